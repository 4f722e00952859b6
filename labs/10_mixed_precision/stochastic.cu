// Lab 10, task `stochastic`: weights in bf16 without a master copy, rounded up or down by chance.
//
// The kernel below rounds to nearest. Run: ./ridge check 10 --task stochastic
#include "precision.hpp"

// TASK(stochastic)
namespace {

// in, out: (n) bf16; update: (n) floats. A thread an element.
__global__ void stochastic_kernel(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // TODO: up or down by chance, with the bits of philox(). One call of it serves 8 elements.
  out[i] = __float2bfloat16_rn(__bfloat162float(in[i]) - update[i]);
}

}  // namespace

void stochastic(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n, std::uint64_t,
                std::uint32_t, void*, std::size_t, cudaStream_t stream) {
  stochastic_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, update, out, n);
}
// END(stochastic)
