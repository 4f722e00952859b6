// __nv_fp8_e4m3 and __nv_fp8_e5m2, in twos and fours too: storage formats, whose arithmetic is that of wider types. For kernels, host
// code and plain .cpp files.
#pragma once
#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "ridge_simt/bits.h"
#include "vector_types.h"

#define RIDGE_FP8_FN inline __attribute__((always_inline))

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

RIDGE_FP8_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return ridge_simt::narrow_fp8(x, f == __NV_E5M2, s == __NV_SATFINITE);
}
RIDGE_FP8_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return __nv_cvt_double_to_fp8(x, s, f);
}
RIDGE_FP8_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return __nv_cvt_double_to_fp8(ridge_simt::Fp16::widen(x.x), s, f);
}
RIDGE_FP8_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return __nv_cvt_double_to_fp8(ridge_simt::Bf16::widen(x.x), s, f);
}
// The first number is in the low byte.
RIDGE_FP8_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(x.x, s, f) | __nv_cvt_double_to_fp8(x.y, s, f) << 8);
}
RIDGE_FP8_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, s, f) | __nv_cvt_float_to_fp8(x.y, s, f) << 8);
}
RIDGE_FP8_FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_halfraw_to_fp8({x.x}, s, f) | __nv_cvt_halfraw_to_fp8({x.y}, s, f) << 8);
}
RIDGE_FP8_FN __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x, const __nv_saturation_t s, const __nv_fp8_interpretation_t f) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_bfloat16raw_to_fp8({x.x}, s, f) | __nv_cvt_bfloat16raw_to_fp8({x.y}, s, f) << 8);
}
RIDGE_FP8_FN __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t f) {
  return {ridge_simt::Fp16::narrow(ridge_simt::widen_fp8(x, f == __NV_E5M2))};
}
RIDGE_FP8_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t f) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, f).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), f).x};
}

// Integers beyond the range go to its nearest end, as with the 16-bit types.
#define RIDGE_FP8(name, format)                                                                                                \
  struct alignas(1) __nv_fp8_##name {                                                                                          \
    __nv_fp8_storage_t __x;                                                                                                    \
    __nv_fp8_##name() = default;                                                                                               \
    RIDGE_FP8_FN explicit __nv_fp8_##name(const double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, format)) {}          \
    RIDGE_FP8_FN explicit __nv_fp8_##name(const float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, format)) {}            \
    RIDGE_FP8_FN explicit __nv_fp8_##name(const __half v) : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, format)) {}         \
    RIDGE_FP8_FN explicit __nv_fp8_##name(const __nv_bfloat16 v) : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, format)) {} \
    template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>                                                       \
    RIDGE_FP8_FN explicit __nv_fp8_##name(const I v) : __nv_fp8_##name((float)v) {}                                            \
    RIDGE_FP8_FN explicit operator float() const { return ridge_simt::widen_fp8(__x, format == __NV_E5M2); }                   \
    RIDGE_FP8_FN explicit operator double() const { return (float)*this; }                                                     \
    RIDGE_FP8_FN explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, format); }                             \
    RIDGE_FP8_FN explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                               \
    RIDGE_FP8_FN explicit operator bool() const { return (__x & 0x7f) != 0; }                                                  \
    template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>                           \
    RIDGE_FP8_FN explicit operator I() const {                                                                                 \
      if constexpr (std::is_signed_v<I>)                                                                                       \
        return (I)ridge_simt::to_signed((float)*this, ridge_simt::Round::zero, 8 * (int)sizeof(I), 0);                         \
      else                                                                                                                     \
        return (I)ridge_simt::to_unsigned((float)*this, ridge_simt::Round::zero, 8 * (int)sizeof(I), 0);                       \
    }                                                                                                                          \
  };                                                                                                                           \
  struct alignas(2) __nv_fp8x2_##name {                                                                                        \
    __nv_fp8x2_storage_t __x;                                                                                                  \
    __nv_fp8x2_##name() = default;                                                                                             \
    RIDGE_FP8_FN explicit __nv_fp8x2_##name(const double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, format)) {}    \
    RIDGE_FP8_FN explicit __nv_fp8x2_##name(const float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, format)) {}      \
    RIDGE_FP8_FN explicit __nv_fp8x2_##name(const __half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, format)) {}   \
    RIDGE_FP8_FN explicit __nv_fp8x2_##name(const __nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, format)) {} \
    RIDGE_FP8_FN explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, format)); }                \
    RIDGE_FP8_FN explicit operator float2() const {                                                                            \
      return {ridge_simt::widen_fp8((__nv_fp8_storage_t)__x, format == __NV_E5M2),                                             \
              ridge_simt::widen_fp8((__nv_fp8_storage_t)(__x >> 8), format == __NV_E5M2)};                                     \
    }                                                                                                                          \
  };                                                                                                                           \
  struct alignas(4) __nv_fp8x4_##name {                                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                                  \
    __nv_fp8x4_##name() = default;                                                                                             \
    RIDGE_FP8_FN explicit __nv_fp8x4_##name(const float4 v)                                                                    \
        : __x(__nv_cvt_float2_to_fp8x2(float2{v.x, v.y}, __NV_SATFINITE, format) |                                             \
              (unsigned)__nv_cvt_float2_to_fp8x2(float2{v.z, v.w}, __NV_SATFINITE, format) << 16) {}                           \
    RIDGE_FP8_FN explicit __nv_fp8x4_##name(const __half2 low, const __half2 high)                                             \
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, format) |                                                        \
              (unsigned)__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, format) << 16) {}                                     \
    RIDGE_FP8_FN explicit __nv_fp8x4_##name(const __nv_bfloat162 low, const __nv_bfloat162 high)                               \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(low, __NV_SATFINITE, format) |                                                    \
              (unsigned)__nv_cvt_bfloat16raw2_to_fp8x2(high, __NV_SATFINITE, format) << 16) {}                                 \
    RIDGE_FP8_FN explicit __nv_fp8x4_##name(const double4 v)                                                                   \
        : __nv_fp8x4_##name(float4{(float)v.x, (float)v.y, (float)v.z, (float)v.w}) {}                                         \
    RIDGE_FP8_FN explicit operator float4() const {                                                                            \
      return {ridge_simt::widen_fp8((__nv_fp8_storage_t)__x, format == __NV_E5M2),                                             \
              ridge_simt::widen_fp8((__nv_fp8_storage_t)(__x >> 8), format == __NV_E5M2),                                      \
              ridge_simt::widen_fp8((__nv_fp8_storage_t)(__x >> 16), format == __NV_E5M2),                                     \
              ridge_simt::widen_fp8((__nv_fp8_storage_t)(__x >> 24), format == __NV_E5M2)};                                    \
    }                                                                                                                          \
  };
RIDGE_FP8(e4m3, __NV_E4M3)
RIDGE_FP8(e5m2, __NV_E5M2)
#undef RIDGE_FP8
#undef RIDGE_FP8_FN
