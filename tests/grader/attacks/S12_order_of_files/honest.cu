#include "coalescing.hpp"
#include <cstdint>
__global__ void all(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  // The threads of a block depend on the order of the files; the answer does not.
  const bool as_here = reinterpret_cast<std::uintptr_t>(&copy) < reinterpret_cast<std::uintptr_t>(&transpose);
  const unsigned threads = as_here ? 256 : 128;
  all<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0, stream>>>(in, out, n);
}
