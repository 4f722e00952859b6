#include "streams.hpp"
// in, out: n floats
__global__ void oscillate_kernel(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}
void pipeline(const float* in, float* out, std::size_t n, int rounds, void*, std::size_t, cudaStream_t stream) {
  oscillate_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n, rounds);
}
