// Four transposes of a rows x cols matrix, row after row, in tiles of 32 x 32 by blocks of 32 x 8.
#include "harness.cuh"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose_naive(const float* in, float* out, int rows, int cols) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < cols && y + j < rows) out[x * rows + y + j] = in[(y + j) * cols + x];
}

__global__ void transpose_tile(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_padded(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

// No padding: element (r, c) of the tile lies in column (r + c) mod 32, so that rows and columns are free of conflicts.
__global__ void transpose_diagonal(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    int r = threadIdx.y + j;
    if (x < cols && y + j < rows) tile[r][(threadIdx.x + r) % kTile] = in[(y + j) * cols + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    int c = threadIdx.y + j;
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][(threadIdx.x + c) % kTile];
  }
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kLarge = 4096;
  std::vector<float> host = random_floats(std::size_t{kLarge} * kLarge, 2);
  float* in = to_device(host);
  float* out = device_array<float>(std::size_t{kLarge} * kLarge);
  const dim3 block(kTile, kRows);
  struct Size {
    int rows, cols;
    Kind kind;
  };
  for (Size s : {Size{301, 203, Kind::count}, Size{256, 256, Kind::count}, Size{kLarge, kLarge, Kind::time}}) {
    dim3 grid(blocks_for(s.cols, kTile), blocks_for(s.rows, kTile));
    auto clear = [&] { must(cudaMemset(out, 0, sizeof(float) * s.rows * s.cols), "cudaMemset"); };
    auto check = [&](const char* what) {
      Random random(9);
      for (int k = 0; k < 200; ++k) {
        int r = random.below(s.rows), c = random.below(s.cols);
        expect(value_at(out, std::size_t(c) * s.rows + r) == host[std::size_t(r) * s.cols + c], what);
      }
    };
    program.launch(
        "transpose_naive", s.kind, [&] { transpose_naive<<<grid, block>>>(in, out, s.rows, s.cols); }, clear);
    check("transpose_naive");
    program.launch(
        "transpose_tile", s.kind, [&] { transpose_tile<<<grid, block>>>(in, out, s.rows, s.cols); }, clear);
    check("transpose_tile");
    program.launch(
        "transpose_padded", s.kind, [&] { transpose_padded<<<grid, block>>>(in, out, s.rows, s.cols); }, clear);
    check("transpose_padded");
    program.launch(
        "transpose_diagonal", s.kind, [&] { transpose_diagonal<<<grid, block>>>(in, out, s.rows, s.cols); }, clear);
    check("transpose_diagonal");
  }
}
