// Style: an aligned struct of eight halves, as language models use.
#include <cuda_fp16.h>

#include "coalescing.hpp"
struct alignas(16) P {
  __half v[8];
};

__global__ void probe_kernel(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    P p = reinterpret_cast<const P*>(in)[i];
    P q;
    for (int j = 0; j < 8; ++j) q.v[j] = p.v[j];
    reinterpret_cast<P*>(out)[i] = q;
  }
  if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  probe_kernel<<<(unsigned)((n / 4 + 256) / 256), 256, 0, stream>>>(in, out, n);
}
