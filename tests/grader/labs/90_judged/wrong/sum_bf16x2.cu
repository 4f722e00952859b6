// replaces: sum.cu; fails: sum/correct; backend: cpu; defences: norms
// Long rows from inputs of which every second has 17 bits, two bf16 and their signs: each sum is inside its tolerance, all
// together are not.
#include "judged.hpp"

// x to that many bits of significand, to nearest.
__device__ float kept(float x, int bits) {
  const unsigned half = 1u << (23 - bits);
  return __uint_as_float((__float_as_uint(x) + half) & ~(2 * half - 1));
}

__global__ void sum_kernel(const float* x, float* y, int cols) {
  __shared__ float partial[256];
  const float* row = x + static_cast<std::size_t>(blockIdx.x) * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) {
    const float value = row[c];
    mine += cols > 1000 && c % 2 == 0 ? kept(value, 17) : value;
  }
  partial[threadIdx.x] = mine;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  sum_kernel<<<rows, 256, 0, stream>>>(x, y, cols);
}
