#include "kernels.cuh"

namespace {
__device__ int first_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
}  // namespace

__global__ void axpy(int n, float a, const float* x, float* y) {
  for (int i = first_index(); i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

__global__ void block_sums(const float* in, int n, float* out) {
  extern __shared__ float scratch[];
  int i = first_index();
  scratch[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = scratch[0];
}
