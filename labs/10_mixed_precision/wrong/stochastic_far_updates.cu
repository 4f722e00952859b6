// replaces: stochastic.cu; fails: stochastic/correct; backend: cpu
// Updates are cut off at 8.
#include "precision.hpp"

namespace {

constexpr unsigned kThreads = 256;

// What a bf16 leaves out of a float are its lower 16 bits. Adding 16 random bits carries into the upper ones with a
// probability of (lower 16) / 2^16. The sign is a bit of its own, so negative numbers are served alike.
__device__ std::uint32_t rounded(float x, std::uint32_t random) { return (__float_as_uint(x) + random) >> 16; }

__device__ float from_bits(std::uint32_t bits) { return __uint_as_float(bits << 16); }

// in, out: (n) bf16 in groups of 4; update: (n) floats. A block has 8 elements for each of its threads: thread t takes groups t and
// t + kThreads, so that neighbours read neighbours, and the 128 bits of one call serve 8 elements.
__global__ void __launch_bounds__(kThreads)
    stochastic_kernel(const unsigned short* in, const float* update, unsigned short* out, std::size_t n,
                      std::uint64_t seed, std::uint32_t step) {
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint4 bits =
      philox(make_uint4(static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(thread >> 32), step, 0),
             make_uint2(static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)));
  for (int half = 0; half < 2; ++half) {
    const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * 2 + half) * kThreads * 4 + threadIdx.x * 4;
    const std::uint32_t r[4] = {
        half == 0 ? bits.x & 0xffffu : bits.z & 0xffffu, half == 0 ? bits.x >> 16 : bits.z >> 16,
        half == 0 ? bits.y & 0xffffu : bits.w & 0xffffu, half == 0 ? bits.y >> 16 : bits.w >> 16};
    if (i + 4 <= n) {
      const uint2 w = *reinterpret_cast<const uint2*>(in + i);
      const float4 u = *reinterpret_cast<const float4*>(update + i);
      const std::uint32_t a = rounded(from_bits(w.x & 0xffffu) - fminf(fmaxf(u.x, -8), 8), r[0]),
                          b = rounded(from_bits(w.x >> 16) - u.y, r[1]);
      const std::uint32_t c = rounded(from_bits(w.y & 0xffffu) - u.z, r[2]),
                          d = rounded(from_bits(w.y >> 16) - u.w, r[3]);
      *reinterpret_cast<uint2*>(out + i) = make_uint2(a | b << 16, c | d << 16);
    } else {
      for (int k = 0; k < 4; ++k)
        if (i + k < n) out[i + k] = static_cast<unsigned short>(rounded(from_bits(in[i + k]) - update[i + k], r[k]));
    }
  }
}

}  // namespace

void stochastic(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n, std::uint64_t seed,
                std::uint32_t step, void*, std::size_t, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + kThreads * 8 - 1) / (kThreads * 8));
  stochastic_kernel<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const unsigned short*>(in), update,
                                                     reinterpret_cast<unsigned short*>(out), n, seed, step);
}
