#include "coalescing.hpp"
#include "own.cuh"
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
