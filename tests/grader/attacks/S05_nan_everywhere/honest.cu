#include "judged.hpp"
// NaN on the way, and none in the answer.
__global__ void scale_kernel(const float* x, const float* a, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float v = __uint_as_float(0x7FC00000u);
  if (i < n) {
    if (v != v) v = x[i];
    y[i] = a[0] * v + expf(v);
  }
}
void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream) {
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, a, y, n);
}
