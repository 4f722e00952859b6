// replaces: spmv.cu; fails: spmv/instructions; backend: cpu
// A thread for each row, and all threads run to the end of the longest row: what lies beyond their own they load from its
// last entry, times 0. So no lane is idle and no thread is alone at the end, and the work is that of the longest row times
// the number of rows.
#include "science.hpp"

namespace {

// One thread. longest: one int.
__global__ void longest_kernel(Csr a, int* longest) {
  int most = 0;
  for (int r = static_cast<int>(threadIdx.x); r < a.rows; r += 1024) most = max(most, a.starts[r + 1] - a.starts[r]);
  __shared__ int all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  atomicMax(&all, most);
  __syncthreads();
  if (threadIdx.x == 0) *longest = all;
}

// A thread a row. x, y: (rows).
__global__ void rows_kernel(Csr a, const float* x, float* y, const int* longest) {
  const int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (row >= a.rows) return;
  const int begin = a.starts[row], end = a.starts[row + 1], most = min(*longest, 2000);
  float sum = 0;
  for (int i = 0; i < most; ++i) {
    const int k = min(begin + i, max(end - 1, 0));
    sum += (begin + i < end ? 1.0f : 0.0f) * a.values[k] * x[a.columns[k]];
  }
  y[row] = sum;
}

// The rest of rows that are longer than 2000, a block each.
__global__ void rest_kernel(Csr a, const float* x, float* y) {
  __shared__ float sums[1024];
  const int row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int begin = a.starts[row] + 2000, end = a.starts[row + 1];
  if (begin >= end) return;
  float sum = 0;
  for (int k = begin + thread; k < end; k += 1024) sum += a.values[k] * x[a.columns[k]];
  sums[thread] = sum;
  for (int step = 512; step > 0; step /= 2) {
    __syncthreads();
    if (thread < step) sums[thread] += sums[thread + step];
  }
  if (thread == 0) y[row] += sums[0];
}

}  // namespace

void spmv(const Csr& a, const float* x, float* y, void* workspace, std::size_t, cudaStream_t stream) {
  auto* longest = static_cast<int*>(workspace);
  longest_kernel<<<1, 1024, 0, stream>>>(a, longest);
  rows_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a, x, y, longest);
  rest_kernel<<<a.rows, 1024, 0, stream>>>(a, x, y);
}
