// bf16: every number to float and back, rounding modes, integers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "check.hpp"

__global__ void round_trip(unsigned short* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
  out[i] = __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(b)));
}
__global__ void modes(float x, unsigned short* out) {
  out[0] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
  out[1] = __bfloat16_as_ushort(__float2bfloat16_rz(x));
  out[2] = __bfloat16_as_ushort(__float2bfloat16_ru(x));
  out[3] = __bfloat16_as_ushort(__float2bfloat16_rd(x));
  out[4] = __bfloat16_as_ushort(__int2bfloat16_rn(257));
  out[5] = __bfloat16_as_ushort(__ull2bfloat16_rn(0x8080000000000001ull));
}

__global__ void between(__nv_bfloat16* wide, half* narrow) {
  *narrow = static_cast<half>(*wide);
  *wide = static_cast<__nv_bfloat16>(*narrow);
}

int main() {
  unsigned short* bits;
  cudaMallocManaged(&bits, 65536 * sizeof *bits);
  round_trip<<<256, 256>>>(bits);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "round trip");
  for (unsigned i = 0; i < 65536; ++i) {
    expect((i & 0x7fff) > 0x7f80 ? bits[i] == 0x7fff : bits[i] == i, "bf16 to float and back");
    float wide = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
    unsigned pattern;
    std::memcpy(&pattern, &wide, 4);
    if ((i & 0x7fff) <= 0x7f80) expect(pattern == i << 16, "value of bf16");
  }
  modes<<<1, 1>>>(-1.01171875f, bits);  // -(1 + 1.5 / 128): a tie
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "modes");
  expect(bits[0] == 0xbf82 && bits[1] == 0xbf81 && bits[2] == 0xbf81 && bits[3] == 0xbf82, "rounding modes");
  expect(bits[4] == 0x4380, "257 is a tie");
  expect(bits[5] == 0x5f01, "64-bit integers round once");
  __nv_bfloat16* wide;
  half* narrow;
  cudaMallocManaged(&wide, sizeof *wide);
  cudaMallocManaged(&narrow, sizeof *narrow);
  *wide = __float2bfloat16(3.25f);
  between<<<1, 1>>>(wide, narrow);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "between formats");
  expect(__half2float(*narrow) == 3.25f && __bfloat162float(*wide) == 3.25f, "from one format to the other");
  std::puts("ok");
}
