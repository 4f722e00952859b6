// replaces: sum.cu; fails: sum/time; backend: cpu
// Right, with loads of 2 bytes: eight times as many.
#include <algorithm>

#include "precision.hpp"

namespace {

constexpr int kThreads = 256;
constexpr int kChunkRows = 128;  // at least: what blocks write and read again is then 3% of what is read

// in: (rows, cols) bf16; out: (gridDim.y, cols) floats. A thread a column of `chunk` rows.
__global__ void __launch_bounds__(kThreads)
    chunk_kernel(const __nv_bfloat16* in, float* out, int rows, int cols, int chunk) {
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first = static_cast<int>(blockIdx.y) * chunk, last = min(rows, first + chunk);
  if (c >= cols) return;
  float sum = 0;
  for (int r = first; r < last; ++r) sum += __bfloat162float(in[static_cast<std::size_t>(r) * cols + c]);
  out[static_cast<std::size_t>(blockIdx.y) * cols + c] = sum;
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
  const int across = (cols + kThreads - 1) / kThreads;
  // Enough blocks for a large chip, and at most 1024 chunks: they have to fit into the workspace.
  const int most = std::min(1024, std::max(1, 4096 / across));
  const int chunk = std::max(kChunkRows, (rows + most - 1) / most), chunks = (rows + chunk - 1) / chunk;
  auto* partial = chunks == 1 ? out : static_cast<float*>(workspace);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(chunks));
  chunk_kernel<<<grid, kThreads, 0, stream>>>(in, partial, rows, cols, chunk);
  if (chunks == 1) return;
  add_chunks_kernel<<<static_cast<unsigned>((cols + 31) / 32), dim3(32, 32), 0, stream>>>(partial, out, chunks, cols);
}
