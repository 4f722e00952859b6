// The 4-bit format: every pattern there and back, and numbers between two of its own, against the nearest of a list. In ones, twos and
// fours, in kernels and on the host.
#include <cuda_fp4.h>

#include "sample.hpp"

const double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 1e9};

__global__ void around(const __nv_fp4_e2m1* in, __nv_fp4_e2m1* out, float* wide, __half* half) {
  const unsigned i = threadIdx.x;
  wide[i] = static_cast<float>(in[i]);
  half[i] = static_cast<__half>(in[i]);
  out[i] = __nv_fp4_e2m1(wide[i]);
}

__global__ void pairs(const float4* in, __nv_fp4x4_e2m1* fours, __nv_fp4x2_e2m1* twos, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  fours[i] = __nv_fp4x4_e2m1(in[i]);
  twos[i] = __nv_fp4x2_e2m1(make_float2(in[i].z, in[i].w));
  out[i] = static_cast<float4>(fours[i]);
}

// The code of `x` as the list has it.
unsigned wanted(double x, cudaRoundMode mode) {
  const double size = std::fabs(x);
  const unsigned sign = std::signbit(x) ? 8 : 0;
  unsigned below = 0;
  while (below < 7 && kNumbers[below + 1] <= size) ++below;
  if (below == 7 || kNumbers[below] == size || mode == cudaRoundZero) return sign | below;
  if (mode == cudaRoundPosInf) return sign | (x > 0 ? below + 1 : below);
  if (mode == cudaRoundMinInf) return sign | (x < 0 ? below + 1 : below);
  const double to_below = size - kNumbers[below], to_above = kNumbers[below + 1] - size;
  const bool up = to_above < to_below || (to_above == to_below && below % 2 == 1);
  return sign | (up ? below + 1 : below);
}

int main() {
  static_assert(sizeof(__nv_fp4_e2m1) == 1 && sizeof(__nv_fp4x2_e2m1) == 1 && sizeof(__nv_fp4x4_e2m1) == 2);
  __nv_fp4_e2m1 *in = nullptr, *out = nullptr;
  float* wide = nullptr;
  __half* half = nullptr;
  CUDA_CHECK(cudaMallocManaged(&in, 16));
  CUDA_CHECK(cudaMallocManaged(&out, 16));
  CUDA_CHECK(cudaMallocManaged(&wide, 16 * sizeof(float)));
  CUDA_CHECK(cudaMallocManaged(&half, 16 * sizeof(__half)));
  for (int i = 0; i < 16; ++i) in[i].__x = static_cast<__nv_fp4_storage_t>(i);
  around<<<1, 16>>>(in, out, wide, half);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 16; ++i)
    expect(out[i].__x == i && wide[i] == (i < 8 ? 1 : -1) * kNumbers[i % 8] && __half2float(half[i]) == wide[i],
           "there and back");

  // Multiples of 1/16 from -8 to 8: exact in every wider type, and all ties are among them.
  for (int i = -128; i <= 128; ++i) {
    const double x = i / 16.0;
    const float f = static_cast<float>(x);
    for (cudaRoundMode mode : {cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf}) {
      const unsigned code = wanted(x, mode);
      expect(__nv_cvt_double_to_fp4(x, __NV_E2M1, mode) == code, "from a double");
      expect(__nv_cvt_float_to_fp4(f, __NV_E2M1, mode) == code, "from a float");
      expect(__nv_cvt_halfraw_to_fp4(__float2half(f), __NV_E2M1, mode) == code, "from a half");
      expect(__nv_cvt_bfloat16raw_to_fp4(__float2bfloat16(f), __NV_E2M1, mode) == code, "from a bfloat16");
      expect(__nv_cvt_float2_to_fp4x2(make_float2(f, 1.5f), __NV_E2M1, mode) == (0x30 | code), "the first one is low");
      const __half2 halves = __floats2half2_rn(f, -f);
      const __nv_bfloat162 brains = __floats2bfloat162_rn(-f, f);
      const unsigned other = wanted(-x, mode);
      expect(__nv_cvt_halfraw2_to_fp4x2(halves, __NV_E2M1, mode) == (other << 4 | code), "from two halves");
      expect(__nv_cvt_bfloat16raw2_to_fp4x2(brains, __NV_E2M1, mode) == (code << 4 | other), "from two bfloat16");
      const __half_raw back = __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(code), __NV_E2M1);
      const __half2_raw both =
          __nv_cvt_fp4x2_to_halfraw2(static_cast<__nv_fp4x2_storage_t>(other << 4 | code), __NV_E2M1);
      expect(__half2float(__half(back)) == (code < 8 ? 1 : -1) * kNumbers[code % 8] && both.x == back.x &&
                 __half2float(__half(__half_raw{both.y})) == (other < 8 ? 1 : -1) * kNumbers[other % 8],
             "back to halves");
      expect(__nv_cvt_double2_to_fp4x2(make_double2(-6, x), __NV_E2M1, mode) == (code << 4 | 15), "the second is high");
    }
    expect(__nv_fp4_e2m1(x).__x == wanted(x, cudaRoundNearest) && __nv_fp4_e2m1(f).__x == __nv_fp4_e2m1(x).__x,
           "types");
  }
  // A number that a float would round to a tie is not one.
  expect(__nv_fp4_e2m1(2.5 + 1e-12).__x == 5 && __nv_fp4_e2m1(2.5).__x == 4, "rounded once");
  expect(__nv_fp4_e2m1(NAN).__x == 7 && __nv_fp4_e2m1(-INFINITY).__x == 15 && __nv_fp4_e2m1(-1e300).__x == 15 &&
             __nv_fp4_e2m1(-0.0).__x == 8,
         "NaN, infinities, zero");
  expect(static_cast<int>(__nv_fp4_e2m1(-3)) == -3 && static_cast<unsigned>(__nv_fp4_e2m1(-3)) == 0 &&
             static_cast<int>(__nv_fp4_e2m1(1.5)) == 1 && static_cast<bool>(__nv_fp4_e2m1(0.5)) &&
             !static_cast<bool>(__nv_fp4_e2m1(-0.0)) && __nv_fp4_e2m1(5).__x == 6,
         "integers");

  const int n = 37;
  Random random(1);
  std::vector<float4> numbers(n);
  for (float4& v : numbers)
    v = make_float4(random.uniform(-8, 8), random.uniform(-8, 8), random.uniform(-1, 1), random.uniform(-8, 8));
  auto* fours = device_array<__nv_fp4x4_e2m1>(n);
  auto* twos = device_array<__nv_fp4x2_e2m1>(n);
  auto* results = device_array<float4>(n);
  pairs<<<2, 32>>>(to_device(numbers), fours, twos, results, n);
  const auto codes = to_host(fours, n);
  const auto halves = to_host(twos, n);
  const auto back = to_host(results, n);
  for (int i = 0; i < n; ++i) {
    const float x[] = {numbers[i].x, numbers[i].y, numbers[i].z, numbers[i].w};
    const float y[] = {back[i].x, back[i].y, back[i].z, back[i].w};
    for (int k = 0; k < 4; ++k) {
      const unsigned code = wanted(x[k], cudaRoundNearest);
      expect((codes[i].__x >> (4 * k) & 15) == code, "fours");
      expect(y[k] == (code < 8 ? 1 : -1) * kNumbers[code % 8], "back from fours");
    }
    expect(halves[i].__x == codes[i].__x >> 8, "twos");
    const float2 pair = static_cast<float2>(halves[i]);
    const __half2 small = static_cast<__half2>(halves[i]);
    expect(pair.x == y[2] && pair.y == y[3] && __low2float(small) == y[2] && __high2float(small) == y[3], "back");
    expect(__nv_fp4x2_e2m1(small).__x == halves[i].__x, "twos of halves");
  }
  free_device_arrays();
  for (void* p : {(void*)in, (void*)out, (void*)wide, (void*)half}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
