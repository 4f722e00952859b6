// 8-bit floats by the conversion functions: numbers are stored in a byte each, scaled, and summed in float.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../sample.hpp"

__global__ void pack(const float* in, unsigned short* pairs, unsigned char* halves, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  const float2 v = make_float2(in[2 * i], in[2 * i + 1]);
  pairs[i] = __nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, __NV_E4M3);
  halves[i] = __nv_cvt_halfraw_to_fp8(__float2half(v.x), __NV_SATFINITE, __NV_E5M2);
}

__global__ void unpack(const unsigned short* pairs, const unsigned char* halves, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  const __half2_raw both = __nv_cvt_fp8x2_to_halfraw2(pairs[i], __NV_E4M3);
  __half_raw low, high;
  low.x = both.x, high.x = both.y;
  out[2 * i] = __half2float(__half(low)) + __half2float(__half(__nv_cvt_fp8_to_halfraw(halves[i], __NV_E5M2)));
  out[2 * i + 1] = __half2float(__half(high));
}

__global__ void same_by_every_way(int* different) {
  const float x = 0.0625f * (threadIdx.x + 1), y = -x;
  const __nv_fp8x2_storage_t want = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3);
  const __nv_fp8x2_storage_t by_double = __nv_cvt_double2_to_fp8x2(make_double2(x, y), __NV_SATFINITE, __NV_E4M3);
  const __nv_fp8x2_storage_t by_half = __nv_cvt_halfraw2_to_fp8x2(__floats2half2_rn(x, y), __NV_SATFINITE, __NV_E4M3);
  const __nv_fp8x2_storage_t by_bfloat =
      __nv_cvt_bfloat16raw2_to_fp8x2(__floats2bfloat162_rn(x, y), __NV_SATFINITE, __NV_E4M3);
  const __nv_fp8_storage_t one = __nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(x), __NV_SATFINITE, __NV_E4M3);
  const __nv_fp8x4_e4m3 four(make_float4(x, y, x, y));
  const __nv_fp8x4_e4m3 by_halves(__floats2half2_rn(x, y), __floats2half2_rn(x, y));
  const __nv_fp8x4_e4m3 by_bfloats(__floats2bfloat162_rn(x, y), __floats2bfloat162_rn(x, y));
  if (four.__x != by_halves.__x || four.__x != by_bfloats.__x) atomicAdd(different, 1);
  if (want != by_double || want != by_half || want != by_bfloat || one != (want & 0xFF)) atomicAdd(different, 1);
}

int main() {
  const int n = 512;
  Random random(13);
  std::vector<float> in = random.floats(n, -4, 4), want(n);
  auto rounded = [](float x, int digits) {  // to so many bits behind the leading one
    int e;
    const float f = std::frexp(x, &e);
    return std::ldexp(std::nearbyint(std::ldexp(f, digits + 1)), e - digits - 1);
  };
  for (int i = 0; i < n; ++i) {
    in[i] = std::nearbyint(in[i] * 64) / 64;    // exact in half
    if (std::fabs(in[i]) < 0.1f) in[i] = 0.5f;  // no subnormal numbers
    want[i] = rounded(in[i], 3) + (i % 2 == 0 ? rounded(in[i], 2) : 0.0f);
  }
  float *d_in = to_device(in), *d_out = device_array<float>(n);
  auto* pairs = device_array<unsigned short>(n / 2);
  auto* halves = device_array<unsigned char>(n / 2);
  pack<<<2, 128>>>(d_in, pairs, halves, n);
  unpack<<<2, 128>>>(pairs, halves, d_out, n);
  expect_close(to_host(d_out, n), want, 0, "numbers");
  int* different = to_device(std::vector<int>{0});
  same_by_every_way<<<1, 16>>>(different);
  expect(to_host(different, 1)[0] == 0, "the same by every way");
  for (void* p : {(void*)d_in, (void*)d_out, (void*)pairs, (void*)halves, (void*)different}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
