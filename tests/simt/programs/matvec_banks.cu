// Matrix times vector four ways (a row a thread, staged columns, a warp a row, float4), and a study of strided shared reads.
#include "sample.hpp"

__global__ void row_per_thread(const float* a, const float* x, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += a[r * columns + c] * x[c];
  y[r] = sum;
}

// A block loads a tile of the matrix along its rows and sums along its columns; the pad keeps the banks apart.
constexpr int kTile = 32;
__global__ void staged(const float* a, const float* x, float* y, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  __shared__ float part[kTile];
  const int row0 = blockIdx.x * kTile, t = threadIdx.x;
  float sum = 0;
  for (int c0 = 0; c0 < columns; c0 += kTile) {
    part[t] = c0 + t < columns ? x[c0 + t] : 0.0f;
    for (int r = 0; r < kTile; ++r)
      tile[r][t] = row0 + r < rows && c0 + t < columns ? a[(row0 + r) * columns + c0 + t] : 0.0f;
    __syncthreads();
    for (int c = 0; c < kTile; ++c) sum += tile[t][c] * part[c];
    __syncthreads();
  }
  if (row0 + t < rows) y[row0 + t] = sum;
}

// blockDim = (32, rows of a block)
__global__ void warp_per_row(const float* a, const float* x, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) sum += a[r * columns + c] * x[c];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xFFFFFFFFu, sum, d);
  if (threadIdx.x == 0) y[r] = sum;
}

// Rows padded to a multiple of four floats.
__global__ void vectors(const float4* a, const float4* x, float* y, int rows, int fours) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < fours; ++c) {
    float4 m = a[r * fours + c], v = x[c];
    sum += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
  }
  y[r] = sum;
}

template <int Stride>
__global__ void strided(int* out) {
  __shared__ int s[32 * Stride];
  for (int i = threadIdx.x; i < 32 * Stride; i += blockDim.x) s[i] = i;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < Stride; ++k) sum += s[threadIdx.x * Stride + k];
  out[threadIdx.x] = sum;
}

template <int Stride>
void check_stride(int* d_out) {
  strided<Stride><<<1, 32>>>(d_out);
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> wanted(32);
  for (int t = 0; t < 32; ++t)
    for (int k = 0; k < Stride; ++k) wanted[t] += t * Stride + k;
  expect_equal(to_host(d_out, 32), wanted, "strided reads");
}

int main() {
  const int rows = 99, columns = 150, padded = 152;
  Random random(26);
  std::vector<float> a = random.floats(rows * columns), x = random.floats(columns), wide(rows * padded), wide_x(padded);
  std::vector<double> wanted(rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      wanted[r] += static_cast<double>(a[r * columns + c]) * x[c];
      wide[r * padded + c] = a[r * columns + c];
      wide_x[c] = x[c];
    }
  float *d_a = to_device(a), *d_x = to_device(x), *d_wide = to_device(wide), *d_wide_x = to_device(wide_x);
  float* d_y = device_array<float>(rows);
  auto compare = [&](const char* what) {
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_y, rows), wanted, 1e-5, what);
    CUDA_CHECK(cudaMemset(d_y, 0xFF, rows * sizeof(float)));
  };
  row_per_thread<<<blocks_for(rows, 64), 64>>>(d_a, d_x, d_y, rows, columns);
  compare("a row a thread");
  staged<<<blocks_for(rows, kTile), kTile>>>(d_a, d_x, d_y, rows, columns);
  compare("staged");
  warp_per_row<<<blocks_for(rows, 4), dim3(32, 4)>>>(d_a, d_x, d_y, rows, columns);
  compare("a warp a row");
  vectors<<<blocks_for(rows, 64), 64>>>(reinterpret_cast<float4*>(d_wide), reinterpret_cast<float4*>(d_wide_x), d_y,
                                        rows, padded / 4);
  compare("float4");
  int* d_out = device_array<int>(32);
  check_stride<1>(d_out);
  check_stride<2>(d_out);
  check_stride<7>(d_out);
  check_stride<32>(d_out);
  for (void* p : {(void*)d_a, (void*)d_x, (void*)d_wide, (void*)d_wide_x, (void*)d_y, (void*)d_out})
    CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
