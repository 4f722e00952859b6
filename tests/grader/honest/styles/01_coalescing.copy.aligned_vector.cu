// Style: an aligned template of four floats, copied whole, as PyTorch does.
#include "coalescing.hpp"
template <class T, int N>
struct alignas(sizeof(T) * N) aligned_vector {
  T val[N];
};

__global__ void probe_kernel(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    using V = aligned_vector<float, 4>;
    *(reinterpret_cast<V*>(out) + i) = *(reinterpret_cast<const V*>(in) + i);
  }
  if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  probe_kernel<<<(unsigned)((n / 4 + 256) / 256), 256, 0, stream>>>(in, out, n);
}
