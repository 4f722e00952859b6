// __half and __half2: 1 sign bit, 5 of exponent, 10 of mantissa. For kernels, host code and plain .cpp files.
#pragma once
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__
#include "ridge_simt/bits.h"
#include "vector_types.h"
#ifdef RIDGE_SIMT
#include "ridge_simt/device.h"
#include "ridge_simt/here.h"
#if __has_include("ridge_simt/warp.h")
#include "ridge_simt/warp.h"
#endif
#endif

struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

// 2 bytes: a load or store of one is one access.
struct alignas(2) __half {
  unsigned short __x;

  __half() = default;
  RIDGE_INLINE constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  using ridge_half = void;
  // Converts from __nv_bfloat16, which cuda_bf16.h defines.
  template <class B, class = typename B::ridge_bfloat16>
  explicit RIDGE_INLINE __half(const B& v) : __half((float)v) {}
  RIDGE_INLINE __half(const float v) : __x(ridge_simt::Fp16::narrow(v)) {}
  RIDGE_INLINE __half(const double v) : __x(ridge_simt::Fp16::narrow(v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const short v) : __x(ridge_simt::Fp16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const unsigned short v) : __x(ridge_simt::Fp16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const int v) : __x(ridge_simt::Fp16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const unsigned v) : __x(ridge_simt::Fp16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const long v) : __x(ridge_simt::Fp16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const unsigned long v) : __x(ridge_simt::Fp16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const long long v) : __x(ridge_simt::Fp16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __half(const unsigned long long v) : __x(ridge_simt::Fp16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}

  RIDGE_INLINE operator __half_raw() const { return {__x}; }
  RIDGE_INLINE operator float() const { return ridge_simt::Fp16::widen(__x); }
  RIDGE_INLINE constexpr operator bool() const { return (__x & 0x7fff) != 0; }
  RIDGE_INLINE operator signed char() const {
    return (signed char)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator unsigned char() const {
    return (unsigned char)ridge_simt::to_unsigned(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator char() const {
    return (char)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator short() const {
    return (short)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 16, 0);
  }
  RIDGE_INLINE operator unsigned short() const {
    return (unsigned short)ridge_simt::to_unsigned(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 16, 0);
  }
  RIDGE_INLINE operator int() const {
    return (int)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 32, 0);
  }
  RIDGE_INLINE operator unsigned() const {
    return (unsigned)ridge_simt::to_unsigned(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 32, 0);
  }
  RIDGE_INLINE operator long() const {
    return (long)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 64, INT64_MIN);
  }
  RIDGE_INLINE operator unsigned long() const {
    return (unsigned long)ridge_simt::to_unsigned(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 64, 1ull << 63);
  }
  RIDGE_INLINE operator long long() const {
    return (long long)ridge_simt::to_signed(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 64, INT64_MIN);
  }
  RIDGE_INLINE operator unsigned long long() const {
    return (unsigned long long)ridge_simt::to_unsigned(ridge_simt::Fp16::widen(__x), ridge_simt::Round::zero, 64, 1ull << 63);
  }

  RIDGE_INLINE __half& operator=(const __half_raw& raw) {
    __x = raw.x;
    return *this;
  }
  RIDGE_INLINE __half& operator=(const float v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const double v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const short v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const unsigned short v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const int v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const unsigned v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const long v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const unsigned long v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const long long v) { return *this = __half(v); }
  RIDGE_INLINE __half& operator=(const unsigned long long v) { return *this = __half(v); }
};

// 4 bytes, aligned: one access, as the vector types.
struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  RIDGE_INLINE constexpr __half2(const __half& x_, const __half& y_) : x(x_), y(y_) {}
  RIDGE_INLINE explicit constexpr __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  RIDGE_INLINE __half2(const __half2& o) { ridge_simt::copy_vector<ridge_simt::v4_t>(this, &o); }
  RIDGE_INLINE __half2& operator=(const __half2& o) {
    ridge_simt::copy_vector<ridge_simt::v4_t>(this, &o);
    return *this;
  }
  RIDGE_INLINE operator __half2_raw() const { return {x.__x, y.__x}; }
};

#define RIDGE_H __half
#define RIDGE_H2 __half2
#define RIDGE_H_RAW __half_raw
#define RIDGE_N half
#define RIDGE_N2 half2
#define RIDGE_F Fp16
#define RIDGE_ONE 0x3c00
#define RIDGE_IS_BF16 false
#include "ridge_simt/half_functions.h"
#undef RIDGE_H
#undef RIDGE_H2
#undef RIDGE_H_RAW
#undef RIDGE_N
#undef RIDGE_N2
#undef RIDGE_F
#undef RIDGE_ONE
#undef RIDGE_IS_BF16

typedef __half half;
typedef __half nv_half;
typedef __half __nv_half;
typedef __half2 half2;
typedef __half2 nv_half2;
