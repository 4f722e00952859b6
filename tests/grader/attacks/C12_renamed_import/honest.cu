#include "coalescing.hpp"
#include <cstdio>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
static int harmless(int x) { return x; }
#pragma GCC diagnostic pop
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
#pragma unroll
  for (std::size_t i = first; i < n; i += std::size_t{gridDim.x} * blockDim.x) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
