#include "coalescing.hpp"
// A checksum of what was copied, for whoever debugs: no answer depends on it.
__device__ unsigned long long sum;
__global__ void checked(const float* in, float* out, std::size_t n, bool adds) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = x;
  if (adds) atomicXor(&sum, static_cast<unsigned long long>(__float_as_uint(x)));
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  checked<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n, n < (1 << 18));
}
