// __nv_bfloat16 and __nv_bfloat162: the upper half of a float. For kernels, host code and plain .cpp files.
#pragma once
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__
#include "cuda_fp16.h"
#include "ridge_simt/bits.h"
#include "vector_types.h"
#ifdef RIDGE_SIMT
#include "ridge_simt/device.h"
#include "ridge_simt/here.h"
#if __has_include("ridge_simt/warp.h")
#include "ridge_simt/warp.h"
#endif
#endif

struct alignas(2) __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

// 2 bytes: a load or store of one is one access.
struct alignas(2) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  RIDGE_INLINE constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  using ridge_bfloat16 = void;
  template <class H, class = typename H::ridge_half>
  explicit RIDGE_INLINE __nv_bfloat16(const H& v) : __nv_bfloat16((float)v) {}
  RIDGE_INLINE __nv_bfloat16(const float v) : __x(ridge_simt::Bf16::narrow(v)) {}
  RIDGE_INLINE __nv_bfloat16(const double v) : __x(ridge_simt::Bf16::narrow(v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const short v) : __x(ridge_simt::Bf16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const unsigned short v) : __x(ridge_simt::Bf16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const int v) : __x(ridge_simt::Bf16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const unsigned v) : __x(ridge_simt::Bf16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const long v) : __x(ridge_simt::Bf16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const unsigned long v) : __x(ridge_simt::Bf16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const long long v) : __x(ridge_simt::Bf16::narrow((long long)v, ridge_simt::Round::nearest)) {}
  RIDGE_INLINE __nv_bfloat16(const unsigned long long v) : __x(ridge_simt::Bf16::narrow((unsigned long long)v, ridge_simt::Round::nearest)) {}

  RIDGE_INLINE operator __nv_bfloat16_raw() const { return {__x}; }
  RIDGE_INLINE operator float() const { return ridge_simt::Bf16::widen(__x); }
  RIDGE_INLINE constexpr operator bool() const { return (__x & 0x7fff) != 0; }
  RIDGE_INLINE operator signed char() const {
    return (signed char)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator unsigned char() const {
    return (unsigned char)ridge_simt::to_unsigned(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator char() const {
    return (char)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 8, 0);
  }
  RIDGE_INLINE operator short() const {
    return (short)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 16, 0);
  }
  RIDGE_INLINE operator unsigned short() const {
    return (unsigned short)ridge_simt::to_unsigned(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 16, 0);
  }
  RIDGE_INLINE operator int() const {
    return (int)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 32, 0);
  }
  RIDGE_INLINE operator unsigned() const {
    return (unsigned)ridge_simt::to_unsigned(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 32, 0);
  }
  RIDGE_INLINE operator long() const {
    return (long)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 64, INT64_MIN);
  }
  RIDGE_INLINE operator unsigned long() const {
    return (unsigned long)ridge_simt::to_unsigned(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 64, 1ull << 63);
  }
  RIDGE_INLINE operator long long() const {
    return (long long)ridge_simt::to_signed(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 64, INT64_MIN);
  }
  RIDGE_INLINE operator unsigned long long() const {
    return (unsigned long long)ridge_simt::to_unsigned(ridge_simt::Bf16::widen(__x), ridge_simt::Round::zero, 64, 1ull << 63);
  }

  RIDGE_INLINE __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) {
    __x = raw.x;
    return *this;
  }
  RIDGE_INLINE __nv_bfloat16& operator=(const float v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const double v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const short v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const unsigned short v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const int v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const unsigned v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const long v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const unsigned long v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const long long v) { return *this = __nv_bfloat16(v); }
  RIDGE_INLINE __nv_bfloat16& operator=(const unsigned long long v) { return *this = __nv_bfloat16(v); }
};

// 4 bytes, aligned: one access, as the vector types.
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  RIDGE_INLINE constexpr __nv_bfloat162(const __nv_bfloat16& x_, const __nv_bfloat16& y_) : x(x_), y(y_) {}
  RIDGE_INLINE explicit constexpr __nv_bfloat162(const __nv_bfloat162_raw& raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  RIDGE_INLINE __nv_bfloat162(const __nv_bfloat162& o) { ridge_simt::copy_vector<ridge_simt::v4_t>(this, &o); }
  RIDGE_INLINE __nv_bfloat162& operator=(const __nv_bfloat162& o) {
    ridge_simt::copy_vector<ridge_simt::v4_t>(this, &o);
    return *this;
  }
  RIDGE_INLINE operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};

#define RIDGE_H __nv_bfloat16
#define RIDGE_H2 __nv_bfloat162
#define RIDGE_H_RAW __nv_bfloat16_raw
#define RIDGE_N bfloat16
#define RIDGE_N2 bfloat162
#define RIDGE_F Bf16
#define RIDGE_ONE 0x3f80
#define RIDGE_IS_BF16 true
#include "ridge_simt/half_functions.h"
#undef RIDGE_H
#undef RIDGE_H2
#undef RIDGE_H_RAW
#undef RIDGE_N
#undef RIDGE_N2
#undef RIDGE_F
#undef RIDGE_ONE
#undef RIDGE_IS_BF16

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
