// Lab 10, task `sum`: out[c] = the sum of column c of a bf16 matrix.
//
// The kernel below adds in bf16. From some row on the sum no longer changes. Run: ./ridge check 10 --task sum
#include <algorithm>

#include "precision.hpp"

// TASK(sum)
namespace {

constexpr int kThreads = 256;
constexpr int kChunkRows = 128;  // at least: what blocks write and read again is then 3% of what is read

// The numbers of 8 neighbouring columns, exactly: a bf16 is the upper half of a float.
__device__ void add(float (&sums)[8], uint4 eight) {
  const std::uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
  for (int k = 0; k < 4; ++k) {
    sums[2 * k] += __uint_as_float(pairs[k] << 16);
    sums[2 * k + 1] += __uint_as_float(pairs[k] & 0xffff0000u);
  }
}

// in: (rows, vectors) of 8 bf16; out: (gridDim.y, 8 * vectors) floats. Block (x, y) has blockDim.x vectors of the columns and
// `chunk` rows, which its blockDim.y rows of threads take in turn.
__global__ void __launch_bounds__(kThreads)
    chunk_kernel(const uint4* in, float* out, int rows, int vectors, int chunk) {
  __shared__ float shared[kThreads * 8 * 3 / 2];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int width = static_cast<int>(blockDim.x), apart = static_cast<int>(blockDim.y);
  const int vector = static_cast<int>(blockIdx.x) * width + x;
  const int first = static_cast<int>(blockIdx.y) * chunk, last = min(rows, first + chunk);
  float sums[8] = {};
  if (vector < vectors) {
    const uint4* from = in + vector;
    int r = first + y;
    for (; r + 3 * apart < last; r += 4 * apart) {  // four loads on their way at a time
      uint4 loaded[4];
      for (int k = 0; k < 4; ++k) loaded[k] = from[static_cast<std::size_t>(r + k * apart) * vectors];
      for (int k = 0; k < 4; ++k) add(sums, loaded[k]);
    }
    for (; r < last; r += apart) add(sums, from[static_cast<std::size_t>(r) * vectors]);
  }
  // Sum k of thread (x, y) is at (y, k, x), with a pitch that keeps both sides free of bank conflicts.
  const int pitch = width < 8 ? width : width + 4;
  for (int k = 0; k < 8; ++k) shared[(y * 8 + k) * pitch + x] = sums[k];
  __syncthreads();
  const int column = y * width + x, of_block = static_cast<int>(blockIdx.x) * width * 8;
  if (column >= width * 8 || of_block + column >= vectors * 8) return;
  float sum = 0;
  for (int from = 0; from < apart; ++from) sum += shared[(from * 8 + column % 8) * pitch + column / 8];
  out[static_cast<std::size_t>(blockIdx.y) * vectors * 8 + of_block + column] = sum;
}

// partial: (chunks, cols); out: (cols). A block has 32 columns; its 32 warps take chunks in turn.
__global__ void __launch_bounds__(1024) add_chunks_kernel(const float* partial, float* out, int chunks, int cols) {
  __shared__ float shared[32][33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * 32 + x;
  float sum = 0;
  if (column < cols)
    for (int k = y; k < chunks; k += 32) sum += partial[static_cast<std::size_t>(k) * cols + column];
  shared[x][y] = sum;
  __syncthreads();
  sum = shared[y][x];  // warp y has the 32 sums of column y
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const int its = static_cast<int>(blockIdx.x) * 32 + y;
  if (x == 0 && its < cols) out[its] = sum;
}

}  // namespace

void sum(const __nv_bfloat16* in, float* out, int rows, int cols, void* workspace, std::size_t, cudaStream_t stream) {
  const int vectors = cols / 8;
  int width = 1;  // of a block: a warp reads whole rows where they are short
  while (width < vectors && width < 32) width *= 2;
  const int across = (vectors + width - 1) / width;
  // Enough blocks for a large GPU, and at most 1024 chunks: they have to fit into the workspace.
  const int most = std::min(1024, std::max(1, 4096 / across));
  const int chunk = std::max(kChunkRows, (rows + most - 1) / most), chunks = (rows + chunk - 1) / chunk;
  auto* partial = chunks == 1 ? out : static_cast<float*>(workspace);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(chunks));
  const dim3 block(static_cast<unsigned>(width), static_cast<unsigned>(kThreads / width));
  chunk_kernel<<<grid, block, 0, stream>>>(reinterpret_cast<const uint4*>(in), partial, rows, vectors, chunk);
  if (chunks == 1) return;
  add_chunks_kernel<<<static_cast<unsigned>((cols + 31) / 32), dim3(32, 32), 0, stream>>>(partial, out, chunks, cols);
}
// END(sum)
