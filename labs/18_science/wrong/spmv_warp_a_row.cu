// replaces: spmv.cu; fails: spmv/instructions; backend: cpu
// A warp for each row, and one block for a long row: no lane waits long, but most rows have fewer entries than a warp has
// lanes, and each takes the instructions of a whole warp.
#include "science.hpp"

namespace {

constexpr int kThreads = 256, kLong = 1024;
constexpr unsigned kAll = 0xffffffffu;

__device__ float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
  return v;
}

// A warp a row. x, y: (rows).
__global__ void rows_kernel(Csr a, const float* x, float* y) {
  const int row = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= a.rows) return;
  const int begin = a.starts[row], end = a.starts[row + 1];
  if (end - begin > kLong) return;
  float sum = 0;
  for (int k = begin + lane; k < end; k += 32) sum += a.values[k] * x[a.columns[k]];
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

// A block for each 1024 rows looks for long ones, and takes them one by one.
__global__ void long_rows_kernel(Csr a, const float* x, float* y) {
  __shared__ float sums[32];
  __shared__ int found[1024], count;
  const int thread = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x) * 1024 + thread;
  if (thread == 0) count = 0;
  __syncthreads();
  if (row < a.rows && a.starts[row + 1] - a.starts[row] > kLong) found[atomicAdd(&count, 1)] = row;
  __syncthreads();
  for (int i = 0; i < count; ++i) {
    float sum = 0;
    for (int k = a.starts[found[i]] + thread; k < a.starts[found[i] + 1]; k += 1024)
      sum += a.values[k] * x[a.columns[k]];
    sum = warp_sum(sum);
    __syncthreads();
    if (thread % 32 == 0) sums[thread / 32] = sum;
    __syncthreads();
    if (thread < 32) {
      sum = warp_sum(sums[thread]);
      if (thread == 0) y[found[i]] = sum;
    }
  }
}

}  // namespace

void spmv(const Csr& a, const float* x, float* y, void*, std::size_t, cudaStream_t stream) {
  rows_kernel<<<(a.rows * 32 + kThreads - 1) / kThreads, kThreads, 0, stream>>>(a, x, y);
  long_rows_kernel<<<(a.rows + 1023) / 1024, 1024, 0, stream>>>(a, x, y);
}
