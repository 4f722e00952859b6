// replaces: copy.cu; fails: copy/correct; backend: cpu
// Copies whole float4 only: the last n % 4 elements stay what they were.
#include "coalescing.hpp"

__global__ void copy_kernel(const float4* in, float4* out, std::size_t vectors) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < vectors) out[i] = in[i];
}

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const std::size_t vectors = n / 4;
  copy_kernel<<<static_cast<unsigned>(vectors / 256 + 1), 256, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                                            reinterpret_cast<float4*>(out), vectors);
}
