#include "coalescing.hpp"
template <unsigned N>
struct Sum {
  static constexpr unsigned value = Sum<N - 1>::value + N;
};
template <>
struct Sum<0> {
  static constexpr unsigned value = 0;
};
constexpr unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static_assert(Sum<64>::value == 2080 && fibonacci(15) == 610);
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
