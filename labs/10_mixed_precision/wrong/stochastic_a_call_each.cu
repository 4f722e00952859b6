// replaces: stochastic.cu; fails: stochastic/instructions; backend: cpu
// Right, with 128 random bits for each element, of which 112 are thrown away.
#include "precision.hpp"

namespace {

constexpr unsigned kThreads = 256;

// What a bf16 leaves out of a float are its lower 16 bits. Adding 16 random bits carries into the upper ones with a
// probability of (lower 16) / 2^16. The sign is a bit of its own, so negative numbers are served alike.
__device__ std::uint32_t rounded(float x, std::uint32_t random) { return (__float_as_uint(x) + random) >> 16; }

__device__ float from_bits(std::uint32_t bits) { return __uint_as_float(bits << 16); }

// in, out: (n) bf16; update: (n) floats. A thread an element.
__global__ void __launch_bounds__(kThreads)
    stochastic_kernel(const unsigned short* in, const float* update, unsigned short* out, std::size_t n,
                      std::uint64_t seed, std::uint32_t step) {
  for (int k = 0; k < 8; ++k) {
    const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * 8 + k) * kThreads + threadIdx.x;
    if (i >= n) return;
    const uint4 bits = philox(make_uint4(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), step, 0),
                              make_uint2(static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)));
    out[i] = static_cast<unsigned short>(rounded(from_bits(in[i]) - update[i], bits.x & 0xffffu));
  }
}

}  // namespace

void stochastic(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n, std::uint64_t seed,
                std::uint32_t step, void*, std::size_t, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + kThreads * 8 - 1) / (kThreads * 8));
  stochastic_kernel<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const unsigned short*>(in), update,
                                                     reinterpret_cast<unsigned short*>(out), n, seed, step);
}
