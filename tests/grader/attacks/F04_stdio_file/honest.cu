#include "coalescing.hpp"
#include <cstdio>
__device__ int last;
__global__ void counting(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
  if (i == 0) last = static_cast<int>(n);
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  static char buffer[4096];
  static const int set = std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (set != 0) return;
  counting<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  std::fflush(stdout);
}
