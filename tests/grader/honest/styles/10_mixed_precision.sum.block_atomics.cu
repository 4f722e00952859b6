// Style: 2D blocks whose shape follows the matrix, a tree in shared memory, and atomicAdd of the blocks' sums to out.
#include "precision.hpp"

namespace {

constexpr int kThreads = 256, kUnroll = 4;

__device__ void add8(float (&acc)[8], const uint4 v) {
  const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    acc[2 * j] += __uint_as_float(word[j] << 16);
    acc[2 * j + 1] += __uint_as_float(word[j] & 0xFFFF0000u);
  }
}

// in: (rows, 8 * vectors) bf16, as (rows, vectors) uint4; out: (8 * vectors) floats, 0 before.
// Block (x, y): x neighbouring vectors, y rows at a time; blockIdx.y: which chunk of rows.
__global__ void __launch_bounds__(kThreads)
    sum_columns(const uint4* __restrict__ in, float* __restrict__ out, int rows, int vectors, int chunk) {
  __shared__ float tree[8][kThreads];
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.y * chunk, last = min(first + chunk, rows);
  float acc[8] = {};
  if (v < vectors) {
    int r = first + threadIdx.y;
    const int step = blockDim.y;
    for (; r + (kUnroll - 1) * step < last; r += kUnroll * step) {
      uint4 piece[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) piece[u] = __ldcs(in + static_cast<std::size_t>(r + u * step) * vectors + v);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) add8(acc, piece[u]);
    }
    for (; r < last; r += step) add8(acc, __ldcs(in + static_cast<std::size_t>(r) * vectors + v));
  }
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 8; ++j) tree[j][t] = acc[j];
  for (int half = kThreads / 2; half >= blockDim.x; half /= 2) {
    __syncthreads();
    if (t < half) {
#pragma unroll
      for (int j = 0; j < 8; ++j) tree[j][t] += tree[j][t + half];
    }
  }
  __syncthreads();
  if (t < 8 * blockDim.x) {
    const int j = t % 8, x = t / 8;
    const int column = 8 * (blockIdx.x * blockDim.x + x) + j;
    if (column < 8 * vectors) atomicAdd(out + column, tree[j][x]);
  }
}

}  // namespace

void sum(const __nv_bfloat16* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int vectors = cols / 8;
  unsigned x = 1;
  while (x < 32 && 2 * x <= static_cast<unsigned>(vectors)) x *= 2;
  const dim3 block(x, kThreads / x);
  const unsigned across = (vectors + x - 1) / x;
  unsigned down = (528 + across - 1) / across;
  const unsigned most = (rows + block.y * kUnroll - 1) / (block.y * kUnroll);
  if (down > most) down = most;
  const int chunk = (rows + down - 1) / down;
  down = (rows + chunk - 1) / chunk;
  cudaMemsetAsync(out, 0, sizeof(float) * cols, stream);
  sum_columns<<<dim3(across, down), block, 0, stream>>>(reinterpret_cast<const uint4*>(in), out, rows, vectors, chunk);
}
