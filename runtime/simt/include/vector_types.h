// CUDA's vector types for the emulator. Vectors of 2, 4, 8 and 16 bytes copy through one vector register, so that one
// access of a lane is one load or store, as on a GPU: compilers split a plain struct into its members where these are
// used one by one. The price: these types are not trivially copyable, and a union that holds one copies by member.
#pragma once
#define __VECTOR_TYPES_H__
#include <stdint.h>

#include "ridge_simt/c_linkage.h"
#ifndef __cplusplus
#include "ridge_simt/vector_types_c.h"
#else
#include <cstdint>

#if __cplusplus >= 202002L
#define RIDGE_CONSTEXPR_20 constexpr
#else
#define RIDGE_CONSTEXPR_20
#endif
#define RIDGE_INLINE inline __attribute__((always_inline))

namespace ridge_simt {
typedef signed char v2_t __attribute__((vector_size(2), may_alias));
typedef unsigned char v4_t __attribute__((vector_size(4), may_alias));
typedef unsigned v8_t __attribute__((vector_size(8), may_alias));
typedef unsigned v16_t __attribute__((vector_size(16), may_alias));

// Clang splits vector loads too where that is cheaper on x86: counted code keeps each whole, in a register.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && defined(__x86_64__)
#define RIDGE_WHOLE_LOADS 1
// Neither merged nor moved, or it loses its line, and looks like the submission's own assembly.
#ifdef __clang__
#define RIDGE_KEEP(where, x) [[clang::nomerge]] { asm volatile("" : "+" where(x)); }
#else
#define RIDGE_KEEP(where, x) asm volatile("" : "+" where(x));
#endif
#endif
#endif
template <class V>
RIDGE_INLINE void copy_vector(void* to, const void* from) {
  V v = *static_cast<const V*>(from);
#ifdef RIDGE_WHOLE_LOADS
  if constexpr (sizeof(V) == 16) {
    RIDGE_KEEP("x", v)
  } else if constexpr (sizeof(V) == 8) {
    std::uint64_t bits = (std::uint64_t)v;
    RIDGE_KEEP("r", bits)
    v = (V)bits;
  } else if constexpr (sizeof(V) == 4) {
    std::uint32_t bits = (std::uint32_t)v;
    RIDGE_KEEP("r", bits)
    v = (V)bits;
  } else {
    std::uint16_t bits = (std::uint16_t)v;
    RIDGE_KEEP("r", bits)
    v = (V)bits;
  }
#endif
  *static_cast<V*>(to) = v;
}

// `float4 v = {1.0f}` is a vector and `float4 v = 1.0f` an error, as with the plain structs of CUDA: a braced value may
// be converted twice.
template <class T>
struct Component {
  T value;
  RIDGE_INLINE constexpr Component(T v) : value(v) {}
};
}  // namespace ridge_simt

// The default constructor stays trivial: vectors lie in unions and in __shared__ arrays, and name{} is zero.
#define RIDGE_VECTOR_COPY(name, vector, ...)                                          \
  name() = default;                                                                   \
  RIDGE_INLINE RIDGE_CONSTEXPR_20 name(const name& o) { *this = o; }                  \
  RIDGE_INLINE RIDGE_CONSTEXPR_20 name& operator=(const name& o) {                    \
    if (__builtin_is_constant_evaluated()) {                                          \
      __VA_ARGS__;                                                                    \
    } else {                                                                          \
      ridge_simt::copy_vector<ridge_simt::vector>(this, &o);                          \
    }                                                                                 \
    return *this;                                                                     \
  }

#define RIDGE_VECTOR_1(T, name)                                                       \
  struct name##1 { T x; };                                                            \
  static RIDGE_INLINE name##1 make_##name##1(T x) { return {x}; }

#define RIDGE_VECTOR_2(T, name, align, vector)                                        \
  struct alignas(align) name##2 {                                                     \
    T x, y;                                                                           \
    RIDGE_INLINE constexpr name##2(ridge_simt::Component<T> x_) : x(x_.value), y(0) {}\
    RIDGE_INLINE constexpr name##2(T x_, T y_) : x(x_), y(y_) {}                      \
    RIDGE_VECTOR_COPY(name##2, vector, x = o.x, y = o.y)                              \
  };                                                                                  \
  static RIDGE_INLINE name##2 make_##name##2(T x, T y) { return name##2(x, y); }

// Three members are a plain struct, and three accesses, as in CUDA.
#define RIDGE_VECTOR_3(T, name)                                                       \
  struct name##3 { T x, y, z; };                                                      \
  static RIDGE_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }

#define RIDGE_VECTOR_4_BODY(T, type)                                                  \
  T x, y, z, w;                                                                       \
  RIDGE_INLINE constexpr type(ridge_simt::Component<T> x_) : x(x_.value), y(0), z(0), w(0) {} \
  RIDGE_INLINE constexpr type(T x_, T y_, T z_ = 0, T w_ = 0) : x(x_), y(y_), z(z_), w(w_) {}

#define RIDGE_VECTOR_4(T, name, align, vector)                                        \
  struct alignas(align) name##4 {                                                     \
    RIDGE_VECTOR_4_BODY(T, name##4)                                                   \
    RIDGE_VECTOR_COPY(name##4, vector, x = o.x, y = o.y, z = o.z, w = o.w)            \
  };                                                                                  \
  static RIDGE_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

// 32 bytes: two accesses of 16.
#define RIDGE_VECTOR_4_WIDE(T, type, align)                                           \
  struct alignas(align) type {                                                        \
    RIDGE_VECTOR_4_BODY(T, type)                                                      \
    type() = default;                                                                 \
    RIDGE_INLINE RIDGE_CONSTEXPR_20 type(const type& o) { *this = o; }                \
    RIDGE_INLINE RIDGE_CONSTEXPR_20 type& operator=(const type& o) {                  \
      if (__builtin_is_constant_evaluated()) {                                        \
        x = o.x, y = o.y, z = o.z, w = o.w;                                           \
      } else {                                                                        \
        ridge_simt::copy_vector<ridge_simt::v16_t>(&x, &o.x);                         \
        ridge_simt::copy_vector<ridge_simt::v16_t>(&z, &o.z);                         \
      }                                                                               \
      return *this;                                                                   \
    }                                                                                 \
  };                                                                                  \
  static RIDGE_INLINE type make_##type(T x, T y, T z, T w) { return type(x, y, z, w); }

#define RIDGE_VECTORS(T, name, align2, vector2, align4, vector4)                      \
  RIDGE_VECTOR_1(T, name)                                                             \
  RIDGE_VECTOR_2(T, name, align2, vector2)                                            \
  RIDGE_VECTOR_3(T, name)                                                             \
  RIDGE_VECTOR_4(T, name, align4, vector4)

// CUDA 13 names the 32-byte vectors after their alignment; name##4 is the older one, of 16.
#define RIDGE_VECTORS_64(T, name)                                                     \
  RIDGE_VECTOR_1(T, name)                                                             \
  RIDGE_VECTOR_2(T, name, 16, v16_t)                                                  \
  RIDGE_VECTOR_3(T, name)                                                             \
  RIDGE_VECTOR_4_WIDE(T, name##4, 16)                                                 \
  RIDGE_VECTOR_4_WIDE(T, name##4_16a, 16)                                             \
  RIDGE_VECTOR_4_WIDE(T, name##4_32a, 32)

RIDGE_VECTORS(signed char, char, 2, v2_t, 4, v4_t)
RIDGE_VECTORS(unsigned char, uchar, 2, v2_t, 4, v4_t)
RIDGE_VECTORS(short, short, 4, v4_t, 8, v8_t)
RIDGE_VECTORS(unsigned short, ushort, 4, v4_t, 8, v8_t)
RIDGE_VECTORS(int, int, 8, v8_t, 16, v16_t)
RIDGE_VECTORS(unsigned, uint, 8, v8_t, 16, v16_t)
RIDGE_VECTORS(float, float, 8, v8_t, 16, v16_t)
RIDGE_VECTORS_64(long, long)
RIDGE_VECTORS_64(unsigned long, ulong)
RIDGE_VECTORS_64(long long, longlong)
RIDGE_VECTORS_64(unsigned long long, ulonglong)
RIDGE_VECTORS_64(double, double)

#undef RIDGE_VECTOR_1
#undef RIDGE_VECTOR_2
#undef RIDGE_VECTOR_3
#undef RIDGE_VECTOR_4
#undef RIDGE_VECTOR_4_BODY
#undef RIDGE_VECTOR_4_WIDE
#undef RIDGE_VECTORS
#undef RIDGE_VECTORS_64
#undef RIDGE_VECTOR_COPY

struct dim3 {
  unsigned x, y, z;
  RIDGE_INLINE constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  RIDGE_INLINE constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  RIDGE_INLINE constexpr operator uint3() const { return {x, y, z}; }
};
#endif
