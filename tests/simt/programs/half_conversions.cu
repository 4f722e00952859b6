// Every fp16 number to float and back, and floats to fp16 in all rounding modes, in a kernel and on the host.
#include <cuda_fp16.h>

#include <cmath>

#include "check.hpp"

__global__ void round_trip(unsigned short* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  half h = __ushort_as_half((unsigned short)i);
  out[i] = __half_as_ushort(__float2half(__half2float(h)));
}

__global__ void modes(const float* in, half* out) {
  int i = threadIdx.x;
  out[4 * i] = __float2half_rn(in[i]);
  out[4 * i + 1] = __float2half_rz(in[i]);
  out[4 * i + 2] = __float2half_ru(in[i]);
  out[4 * i + 3] = __float2half_rd(in[i]);
}

int main() {
  unsigned short* bits;
  cudaMallocManaged(&bits, 65536 * sizeof *bits);
  round_trip<<<256, 256>>>(bits);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "round trip");
  for (unsigned i = 0; i < 65536; ++i) {
    bool nan = (i & 0x7fff) > 0x7c00;
    expect(nan ? bits[i] == 0x7fff : bits[i] == i, "fp16 to float and back");
    float wide = __half2float(__ushort_as_half((unsigned short)i));
    int exponent = (i >> 10) & 31, fraction = i & 1023;
    double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent != 31) expect(wide == (i & 0x8000 ? -magnitude : magnitude), "value of fp16");
  }

  const float up = 1.0f + 1.0f / 2048;  // half way between 1 and the next number
  float values[] = {up, -up, 1e-8f, -1e-8f, 65520.0f, -65520.0f, 65519.0f, 1e30f, 3.0f / 16777216, 0.333f};
  const unsigned short expected[][4] = {{0x3c00, 0x3c00, 0x3c01, 0x3c00}, {0xbc00, 0xbc00, 0xbc00, 0xbc01},
                                        {0x0000, 0x0000, 0x0001, 0x0000}, {0x8000, 0x8000, 0x8000, 0x8001},
                                        {0x7c00, 0x7bff, 0x7c00, 0x7bff}, {0xfc00, 0xfbff, 0xfbff, 0xfc00},
                                        {0x7bff, 0x7bff, 0x7c00, 0x7bff}, {0x7c00, 0x7bff, 0x7c00, 0x7bff},
                                        {0x0003, 0x0003, 0x0003, 0x0003}, {0x3554, 0x3553, 0x3554, 0x3553}};
  float* in;
  half* out;
  cudaMallocManaged(&in, sizeof values);
  cudaMallocManaged(&out, 4 * 10 * sizeof(half));
  for (int i = 0; i < 10; ++i) in[i] = values[i];
  modes<<<1, 10>>>(in, out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "rounding modes");
  for (int i = 0; i < 10; ++i)
    for (int m = 0; m < 4; ++m)
      expect(__half_as_ushort(out[4 * i + m]) == expected[i][m], "float to fp16, rounding mode");
  expect(__half_as_ushort(__double2half(1.0 + 1.0 / 2048 + 1e-12)) == 0x3c01, "double to fp16 rounds once");
  std::puts("ok");
}
