#include "coalescing.hpp"
struct socket {  // a name of its own
  unsigned threads = 256;
};
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const struct socket s;
  copy_kernel<<<static_cast<unsigned>((n + s.threads - 1) / s.threads), s.threads, 0, stream>>>(in, out, n);
}
