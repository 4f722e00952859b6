// Style: an aligned complex number with an operator of its own.
#include "coalescing.hpp"
struct alignas(8) C {
  float re, im;
  __device__ C operator+(C o) const { return {re + o.re, im + o.im}; }
};

__global__ void probe_kernel(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const C* a = reinterpret_cast<const C*>(in);
  C* b = reinterpret_cast<C*>(out);
  for (size_t j = i; j < n / 2; j += (size_t)gridDim.x * blockDim.x) b[j] = a[j] + C{0, 0};
  if (i == 0 && n % 4 == 3) out[n - 3] = in[n - 3];
  if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  probe_kernel<<<(unsigned)((n / 4 + 256) / 256), 256, 0, stream>>>(in, out, n);
}
