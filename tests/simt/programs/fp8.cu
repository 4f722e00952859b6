// The 8-bit formats: every pattern there and back, saturation, rounding, in twos and fours, in kernels and on the host.
#include <cuda_fp8.h>

#include "sample.hpp"

template <class T>
__global__ void around(const T* in, T* out, float* wide, __half* half) {
  const unsigned i = threadIdx.x;
  wide[i] = static_cast<float>(in[i]);
  half[i] = static_cast<__half>(in[i]);
  out[i] = T(wide[i]);
}

template <class T>
void every_pattern(float largest, unsigned finite) {
  T *in = nullptr, *out = nullptr;
  float* wide = nullptr;
  __half* half = nullptr;
  CUDA_CHECK(cudaMallocManaged(&in, 256));
  CUDA_CHECK(cudaMallocManaged(&out, 256));
  CUDA_CHECK(cudaMallocManaged(&wide, 256 * sizeof(float)));
  CUDA_CHECK(cudaMallocManaged(&half, 256 * sizeof(__half)));
  for (int i = 0; i < 256; ++i) in[i].__x = static_cast<__nv_fp8_storage_t>(i);
  around<<<1, 256>>>(in, out, wide, half);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 256; ++i) {
    if ((i & 0x7f) > finite) continue;  // infinities and NaN
    expect(out[i].__x == i, "there and back");
    expect(__half2float(half[i]) == wide[i], "as a half");
    expect((i & 0x7f) == 0 || (i & 0x7f) == 1 || std::fabs(wide[i]) > std::fabs(wide[i - 1]), "in order");
  }
  expect(wide[finite] == largest && static_cast<float>(T(1e9f)) == largest && static_cast<float>(T(-1e30)) == -largest,
         "saturation");
  expect(static_cast<float>(T(__float2half(1.5f))) == 1.5f && static_cast<float>(T(2)) == 2 &&
             static_cast<int>(T(3.0)) == 3,
         "other types");
}

int main() {
  static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4);
  every_pattern<__nv_fp8_e4m3>(448, 0x7e);
  every_pattern<__nv_fp8_e5m2>(57344, 0x7b);
  // Without saturation what rounds beyond the largest is NaN or infinity; ties go to even.
  expect(__nv_cvt_float_to_fp8(464, __NV_NOSAT, __NV_E4M3) == 0x7e, "448 is even");
  expect(__nv_cvt_float_to_fp8(465, __NV_NOSAT, __NV_E4M3) == 0x7f, "NaN");
  expect(__nv_cvt_float_to_fp8(-61440, __NV_NOSAT, __NV_E5M2) == 0xfc, "-infinity");
  expect(__nv_cvt_float_to_fp8(61439, __NV_NOSAT, __NV_E5M2) == 0x7b, "the largest");
  expect(__nv_cvt_double_to_fp8(1.0625 + 1e-12, __NV_SATFINITE, __NV_E4M3) == 0x39, "rounded once");
  const auto two = static_cast<float2>(__nv_fp8x2_e4m3(float2{1, -2}));
  expect(two.x == 1 && two.y == -2, "two");
  const auto four = static_cast<float4>(__nv_fp8x4_e5m2(float4{1, -2, 3, 1e6f}));
  expect(four.x == 1 && four.y == -2 && four.z == 3 && four.w == 57344, "four");
  std::puts("ok");
}
