// replaces: copy.cu; fails: copy/sectors; backend: cpu
// Each thread copies its own chunk: right, but neighbouring lanes are 128 bytes apart.
#include "coalescing.hpp"

__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 32;
  for (std::size_t i = first; i < first + 32 && i < n; ++i) out[i] = in[i];
}

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + 32 * 256 - 1) / (32 * 256));
  copy_kernel<<<blocks, 256, 0, stream>>>(in, out, n);
}
