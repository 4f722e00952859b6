#include "coalescing.hpp"
// Writes its output twice, and no input.
__global__ void twice(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = const_cast<float*>(in)[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
