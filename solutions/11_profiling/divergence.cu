// Lab 11, task `divergence`: the number of rounds follows data, and lanes of a warp wait for their neighbours.
//
// The kernel below leaves out the last kind, which makes most rounds. Add it, and then look at the idle lanes. Run:
// ./ridge check 11 --task divergence
#include "profiling.hpp"

// TASK(divergence)
namespace {

constexpr int kBlock = 256;
constexpr int kPart = 2048;  // elements of a block

// kind, x, y: (n). A block sorts the indices of its part by kind, in shared memory, and works through each kind's list: all
// lanes of a warp make as many rounds, but for the last warp of a list.
__global__ void evaluate_kernel(const int* kind, const float* x, float* y, int n) {
  __shared__ int count[kKinds], first[kKinds], order[kPart];
  const int thread = threadIdx.x, begin = blockIdx.x * kPart, end = min(n, begin + kPart);
  if (thread < kKinds) count[thread] = 0;
  __syncthreads();
  for (int i = begin + thread; i < end; i += kBlock) atomicAdd(&count[kind[i]], 1);
  __syncthreads();
  if (thread == 0)
    for (int k = 0, sum = 0; k < kKinds; ++k) first[k] = sum, sum += count[k];
  __syncthreads();
  if (thread < kKinds) count[thread] = first[thread];
  __syncthreads();
  for (int i = begin + thread; i < end; i += kBlock) order[atomicAdd(&count[kind[i]], 1)] = i;
  __syncthreads();
  for (int k = kKinds - 1; k >= 0; --k)
    for (int at = first[k] + thread; at < count[k]; at += kBlock) y[order[at]] = relax(k, x[order[at]]);
}

}  // namespace

void evaluate(const int* kind, const float* x, float* y, int n, void*, std::size_t, cudaStream_t stream) {
  evaluate_kernel<<<(n + kPart - 1) / kPart, kBlock, 0, stream>>>(kind, x, y, n);
}
// END(divergence)
