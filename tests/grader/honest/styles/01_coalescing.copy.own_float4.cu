// Style: a vector type of its own, with __align__(16).
#include "coalescing.hpp"
struct __align__(16) V {
  float a, b, c, d;
};

__global__ void probe_kernel(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    V v = reinterpret_cast<const V*>(in)[i];
    V w;
    w.a = v.a;
    w.b = v.b;
    w.c = v.c;
    w.d = v.d;
    reinterpret_cast<V*>(out)[i] = w;
  }
  if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  probe_kernel<<<(unsigned)((n / 4 + 256) / 256), 256, 0, stream>>>(in, out, n);
}
