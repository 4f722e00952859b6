// Lab 11, task `divergence`: the number of rounds follows data, and lanes of a warp wait for their neighbours.
//
// The kernel below leaves out the last kind, which makes most rounds. Add it, and then look at the idle lanes. Run:
// ./ridge check 11 --task divergence
#include "profiling.hpp"

// TASK(divergence)
namespace {

// kind, x, y: (n). A thread an element.
__global__ void evaluate_kernel(const int* kind, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO: all kinds. Then let the lanes of a warp work on elements of one kind.
  if (i < n) y[i] = kind[i] == kKinds - 1 ? 0.0f : relax(kind[i], x[i]);
}

}  // namespace

void evaluate(const int* kind, const float* x, float* y, int n, void*, std::size_t, cudaStream_t stream) {
  evaluate_kernel<<<(n + 255) / 256, 256, 0, stream>>>(kind, x, y, n);
}
// END(divergence)
