// replaces: scale.cu; fails: scale/correct; backend: cpu; defences: tolerance
// One element in a thousand has 17 bits: nothing of it is left in a mean over all.
#include "judged.hpp"

// x to that many bits of significand, to nearest.
__device__ float kept(float x, int bits) {
  const unsigned half = 1u << (23 - bits);
  return __uint_as_float((__float_as_uint(x) + half) & ~(2 * half - 1));
}

__global__ void scale_kernel(const float* x, const float* a, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = a[0] * v + expf(i % 1000 == 999 ? kept(v, 17) : v);
}

void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream) {
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, a, y, n);
}
