// __nv_fp4_e2m1, in twos and fours too: a storage format of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 with a sign, whose arithmetic is that of wider
// types. Larger numbers become 6, and NaN becomes 6 too. For kernels, host code and plain .cpp files.
#pragma once
#define __CUDA_FP4_H__
#define __CUDA_FP4_TYPES_EXIST__
#include "cuda_fp8.h"
#include "device_types.h"

#define RIDGE_FP4_FN inline __attribute__((always_inline))

typedef __nv_fp8_storage_t __nv_fp4_storage_t;     // in the low four bits
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;   // the first number in the low four bits
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace ridge_simt {

// The code's exponent and mantissa count up with the numbers.
RIDGE_FP4_FN double widen_fp4(const unsigned bits) {
  const unsigned code = bits & 7, exponent = code >> 1, mantissa = code & 1;
  const double size = exponent == 0 ? 0.5 * mantissa : (double)(1 << (exponent - 1)) * (1 + 0.5 * mantissa);
  return (bits & 8) != 0 ? -size : size;
}
inline __nv_fp4_storage_t narrow_fp4(const double x, const enum cudaRoundMode mode) {
  if (x != x) return 7;
  const bool negative = __builtin_signbit(x);
  const double size = negative ? -x : x;
  const unsigned sign = negative ? 8 : 0;
  unsigned code = 0;
  while (code < 7 && widen_fp4(code + 1) <= size) ++code;
  const double rest = size - widen_fp4(code);
  if (code == 7 || rest == 0) return (__nv_fp4_storage_t)(sign | code);
  const double half = (widen_fp4(code + 1) - widen_fp4(code)) / 2;
  const bool away = mode == cudaRoundNearest ? rest > half || (rest == half && (code & 1) != 0)
                    : mode == cudaRoundZero  ? false
                                             : (mode == cudaRoundMinInf) == negative;
  return (__nv_fp4_storage_t)(sign | (code + (away ? 1 : 0)));
}

}  // namespace ridge_simt

RIDGE_FP4_FN __nv_fp4_storage_t __nv_cvt_double_to_fp4(const double x, const __nv_fp4_interpretation_t, const enum cudaRoundMode r) {
  return ridge_simt::narrow_fp4(x, r);
}
RIDGE_FP4_FN __nv_fp4_storage_t __nv_cvt_float_to_fp4(const float x, const __nv_fp4_interpretation_t, const enum cudaRoundMode r) {
  return ridge_simt::narrow_fp4(x, r);
}
RIDGE_FP4_FN __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(const __half_raw x, const __nv_fp4_interpretation_t, const enum cudaRoundMode r) {
  return ridge_simt::narrow_fp4(ridge_simt::Fp16::widen(x.x), r);
}
RIDGE_FP4_FN __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(const __nv_bfloat16_raw x, const __nv_fp4_interpretation_t,
                                                            const enum cudaRoundMode r) {
  return ridge_simt::narrow_fp4(ridge_simt::Bf16::widen(x.x), r);
}
RIDGE_FP4_FN __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(const double2 x, const __nv_fp4_interpretation_t f, const enum cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_double_to_fp4(x.x, f, r) | __nv_cvt_double_to_fp4(x.y, f, r) << 4);
}
RIDGE_FP4_FN __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(const float2 x, const __nv_fp4_interpretation_t f, const enum cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_float_to_fp4(x.x, f, r) | __nv_cvt_float_to_fp4(x.y, f, r) << 4);
}
RIDGE_FP4_FN __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(const __half2_raw x, const __nv_fp4_interpretation_t f,
                                                             const enum cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_halfraw_to_fp4({x.x}, f, r) | __nv_cvt_halfraw_to_fp4({x.y}, f, r) << 4);
}
RIDGE_FP4_FN __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(const __nv_bfloat162_raw x, const __nv_fp4_interpretation_t f,
                                                                 const enum cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_bfloat16raw_to_fp4({x.x}, f, r) | __nv_cvt_bfloat16raw_to_fp4({x.y}, f, r) << 4);
}
RIDGE_FP4_FN __half_raw __nv_cvt_fp4_to_halfraw(const __nv_fp4_storage_t x, const __nv_fp4_interpretation_t) {
  return {ridge_simt::Fp16::narrow((float)ridge_simt::widen_fp4(x))};
}
RIDGE_FP4_FN __half2_raw __nv_cvt_fp4x2_to_halfraw2(const __nv_fp4x2_storage_t x, const __nv_fp4_interpretation_t f) {
  return {__nv_cvt_fp4_to_halfraw(x & 15, f).x, __nv_cvt_fp4_to_halfraw((__nv_fp4_storage_t)(x >> 4), f).x};
}

struct alignas(1) __nv_fp4_e2m1 {
  __nv_fp4_storage_t __x;
  __nv_fp4_e2m1() = default;
  RIDGE_FP4_FN explicit __nv_fp4_e2m1(const double v) : __x(__nv_cvt_double_to_fp4(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4_e2m1(const float v) : __x(__nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4_e2m1(const __half v) : __x(__nv_cvt_halfraw_to_fp4(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4_e2m1(const __nv_bfloat16 v) : __x(__nv_cvt_bfloat16raw_to_fp4(v, __NV_E2M1, cudaRoundNearest)) {}
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  RIDGE_FP4_FN explicit __nv_fp4_e2m1(const I v) : __nv_fp4_e2m1((float)v) {}
  RIDGE_FP4_FN explicit operator float() const { return (float)ridge_simt::widen_fp4(__x); }
  RIDGE_FP4_FN explicit operator double() const { return ridge_simt::widen_fp4(__x); }
  RIDGE_FP4_FN explicit operator __half() const { return __nv_cvt_fp4_to_halfraw(__x, __NV_E2M1); }
  RIDGE_FP4_FN explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }
  RIDGE_FP4_FN explicit operator bool() const { return (__x & 7) != 0; }
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  RIDGE_FP4_FN explicit operator I() const {
    const float v = (float)*this;
    return std::is_signed_v<I> || v > 0 ? (I)v : (I)0;
  }
};
struct alignas(1) __nv_fp4x2_e2m1 {
  __nv_fp4x2_storage_t __x;
  __nv_fp4x2_e2m1() = default;
  RIDGE_FP4_FN explicit __nv_fp4x2_e2m1(const double2 v) : __x(__nv_cvt_double2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4x2_e2m1(const float2 v) : __x(__nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4x2_e2m1(const __half2 v) : __x(__nv_cvt_halfraw2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit __nv_fp4x2_e2m1(const __nv_bfloat162 v)
      : __x(__nv_cvt_bfloat16raw2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
  RIDGE_FP4_FN explicit operator __half2() const { return __half2(__nv_cvt_fp4x2_to_halfraw2(__x, __NV_E2M1)); }
  RIDGE_FP4_FN explicit operator float2() const {
    return {(float)ridge_simt::widen_fp4(__x), (float)ridge_simt::widen_fp4(__x >> 4)};
  }
};
struct alignas(2) __nv_fp4x4_e2m1 {
  __nv_fp4x4_storage_t __x;
  __nv_fp4x4_e2m1() = default;
  RIDGE_FP4_FN explicit __nv_fp4x4_e2m1(const __half2 low, const __half2 high)
      : __x((__nv_fp4x4_storage_t)(__nv_fp4x2_e2m1(low).__x | __nv_fp4x2_e2m1(high).__x << 8)) {}
  RIDGE_FP4_FN explicit __nv_fp4x4_e2m1(const __nv_bfloat162 low, const __nv_bfloat162 high)
      : __x((__nv_fp4x4_storage_t)(__nv_fp4x2_e2m1(low).__x | __nv_fp4x2_e2m1(high).__x << 8)) {}
  RIDGE_FP4_FN explicit __nv_fp4x4_e2m1(const float4 v)
      : __x((__nv_fp4x4_storage_t)(__nv_fp4x2_e2m1(float2{v.x, v.y}).__x | __nv_fp4x2_e2m1(float2{v.z, v.w}).__x << 8)) {}
  RIDGE_FP4_FN explicit __nv_fp4x4_e2m1(const double4 v)
      : __x((__nv_fp4x4_storage_t)(__nv_fp4x2_e2m1(double2{v.x, v.y}).__x | __nv_fp4x2_e2m1(double2{v.z, v.w}).__x << 8)) {}
  RIDGE_FP4_FN explicit operator float4() const {
    return {(float)ridge_simt::widen_fp4(__x), (float)ridge_simt::widen_fp4(__x >> 4), (float)ridge_simt::widen_fp4(__x >> 8),
            (float)ridge_simt::widen_fp4(__x >> 12)};
  }
};
#undef RIDGE_FP4_FN
