// CUDA's vector types for the emulator. 8- and 16-byte vectors copy through one vector register, so that one access of a
// lane is one load or store, as on a GPU.
#pragma once
#include <cstdint>

namespace ridge_simt {
typedef unsigned v8_t __attribute__((vector_size(8), may_alias));
typedef unsigned v16_t __attribute__((vector_size(16), may_alias));
}  // namespace ridge_simt

#define RIDGE_VECTOR_COPY(name, vector)                                      \
  name() = default;                                                          \
  name(const name& o) { *(vector*)this = *(const vector*)&o; }               \
  name& operator=(const name& o) {                                           \
    *(vector*)this = *(const vector*)&o;                                     \
    return *this;                                                            \
  }

#define RIDGE_VECTOR_1(T, name)                     \
  struct name##1 { T x; };                          \
  inline name##1 make_##name##1(T x) { return {x}; }

// Vectors that are not a multiple of 8 bytes are plain structs, as in CUDA.
#define RIDGE_VECTOR_PLAIN(T, name, align2, align4)                                  \
  RIDGE_VECTOR_1(T, name)                                                            \
  struct alignas(align2) name##2 { T x, y; };                                        \
  struct name##3 { T x, y, z; };                                                     \
  struct alignas(align4) name##4 { T x, y, z, w; };                                  \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

#define RIDGE_VECTOR_32(T, name)                                                     \
  RIDGE_VECTOR_1(T, name)                                                            \
  struct alignas(8) name##2 {                                                        \
    T x, y;                                                                          \
    constexpr name##2(T x_, T y_ = 0) : x(x_), y(y_) {}                              \
    RIDGE_VECTOR_COPY(name##2, ridge_simt::v8_t)                                     \
  };                                                                                 \
  struct name##3 { T x, y, z; };                                                     \
  struct alignas(16) name##4 {                                                       \
    T x, y, z, w;                                                                    \
    constexpr name##4(T x_, T y_ = 0, T z_ = 0, T w_ = 0) : x(x_), y(y_), z(z_), w(w_) {} \
    RIDGE_VECTOR_COPY(name##4, ridge_simt::v16_t)                                    \
  };                                                                                 \
  inline name##2 make_##name##2(T x, T y) { return name##2(x, y); }                  \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

#define RIDGE_VECTOR_64(T, name)                                                     \
  RIDGE_VECTOR_1(T, name)                                                            \
  struct alignas(16) name##2 {                                                       \
    T x, y;                                                                          \
    constexpr name##2(T x_, T y_ = 0) : x(x_), y(y_) {}                              \
    RIDGE_VECTOR_COPY(name##2, ridge_simt::v16_t)                                    \
  };                                                                                 \
  struct name##3 { T x, y, z; };                                                     \
  struct alignas(16) name##4 { T x, y, z, w; };                                      \
  inline name##2 make_##name##2(T x, T y) { return name##2(x, y); }                  \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

RIDGE_VECTOR_PLAIN(signed char, char, 2, 4)
RIDGE_VECTOR_PLAIN(unsigned char, uchar, 2, 4)
RIDGE_VECTOR_PLAIN(short, short, 4, 8)
RIDGE_VECTOR_PLAIN(unsigned short, ushort, 4, 8)
RIDGE_VECTOR_32(int, int)
RIDGE_VECTOR_32(unsigned, uint)
RIDGE_VECTOR_32(float, float)
RIDGE_VECTOR_64(long long, longlong)
RIDGE_VECTOR_64(unsigned long long, ulonglong)
RIDGE_VECTOR_64(double, double)

#undef RIDGE_VECTOR_1
#undef RIDGE_VECTOR_PLAIN
#undef RIDGE_VECTOR_32
#undef RIDGE_VECTOR_64
#undef RIDGE_VECTOR_COPY

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
