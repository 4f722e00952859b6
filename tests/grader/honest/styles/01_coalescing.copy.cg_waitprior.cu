#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "coalescing.hpp"
namespace cg = cooperative_groups;

__global__ void wk(const float* in, float* out, size_t n) {
  __shared__ alignas(16) float s[2][1024];
  auto b = cg::this_thread_block();
  size_t first = blockIdx.x * (size_t)2048;
  for (int h = 0; h < 2; ++h) {
    size_t f = first + h * 1024;
    size_t c = f < n ? (n - f < 1024 ? n - f : 1024) : 0;
    cg::memcpy_async(b, s[h], in + f, c * sizeof(float));
  }
  for (int h = 0; h < 2; ++h) {
    if (h == 0)
      cg::wait_prior<1>(b);
    else
      cg::wait(b);
    size_t f = first + h * 1024;
    for (int j = threadIdx.x; j < 1024; j += blockDim.x)
      if (f + j < n) out[f + j] = s[h][j];
  }
}
void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  wk<<<(unsigned)((n + 2047) / 2048), 256, 0, stream>>>(in, out, n);
}
