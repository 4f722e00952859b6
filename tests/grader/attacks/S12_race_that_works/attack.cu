#include "coalescing.hpp"
// All write, in no order: nobody reads it.
__device__ int last;
__global__ void racing(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
  if (i < 64) last = static_cast<int>(i);
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  racing<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
