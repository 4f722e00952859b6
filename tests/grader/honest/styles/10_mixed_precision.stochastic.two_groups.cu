// Style: raw bit arithmetic in uint2 and float4 registers, 3D launch shapes, lambdas in the kernel.
#include "precision.hpp"

namespace {

// in, out: (n) bf16; update: (n) floats. A thread has two groups of 4 elements, 4 * blockDim.x apart.
__global__ void __launch_bounds__(128) round_by_chance(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out,
                                                       std::size_t n, std::uint64_t seed, std::uint32_t step) {
  const std::size_t block = static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::size_t thread = block * blockDim.x + threadIdx.x;
  const std::size_t first = block * blockDim.x * 8 + threadIdx.x * 4, second = first + blockDim.x * 4;
  if (first >= n) return;
  const uint4 bits = philox(make_uint4(static_cast<unsigned>(thread), static_cast<unsigned>(thread >> 32), step, 0),
                            make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)));

  auto round16 = [](unsigned low_half, float u, unsigned chance) {
    return (__float_as_uint(__uint_as_float(low_half << 16) - u) + chance) >> 16;
  };
  auto group = [&](std::size_t i, unsigned r0, unsigned r1) {
    if (i + 4 <= n) {
      const uint2 x = *reinterpret_cast<const uint2*>(in + i);
      const float4 u = *reinterpret_cast<const float4*>(update + i);
      const unsigned a = round16(x.x & 0xFFFF, u.x, r0 & 0xFFFF), b = round16(x.x >> 16, u.y, r0 >> 16);
      const unsigned c = round16(x.y & 0xFFFF, u.z, r1 & 0xFFFF), d = round16(x.y >> 16, u.w, r1 >> 16);
      *reinterpret_cast<uint2*>(out + i) = make_uint2(a | b << 16, c | d << 16);
    } else {
      for (int j = 0; j < 4 && i + j < n; ++j) {
        const unsigned r = j < 2 ? r0 >> (16 * j) : r1 >> (16 * (j - 2));
        const unsigned x = __bfloat16_as_ushort(in[i + j]);
        out[i + j] = __ushort_as_bfloat16(static_cast<unsigned short>(round16(x, update[i + j], r & 0xFFFF)));
      }
    }
  };
  group(first, bits.x, bits.y);
  group(second, bits.z, bits.w);
}

}  // namespace

void stochastic(const __nv_bfloat16* in, const float* update, __nv_bfloat16* out, std::size_t n, std::uint64_t seed,
                std::uint32_t step, void*, std::size_t, cudaStream_t stream) {
  const std::size_t blocks = (n + 1023) / 1024;
  const unsigned y = static_cast<unsigned>((blocks + 65534) / 65535);
  const unsigned x = y == 0 ? 1 : static_cast<unsigned>((blocks + y - 1) / y);
  round_by_chance<<<dim3(x, y == 0 ? 1 : y, 1), dim3(128, 1, 1), 0, stream>>>(in, update, out, n, seed, step);
}
