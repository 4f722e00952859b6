// The vector types for programs in C: the same layout as vector_types.h's.
#pragma once

#define RIDGE_VECTORS_C(T, name, align2, align4)                                                                \
  typedef struct name##1 { T x; } name##1;                                                                      \
  typedef struct name##2 { T x __attribute__((aligned(align2))), y; } name##2;                                  \
  typedef struct name##3 { T x, y, z; } name##3;                                                                \
  typedef struct name##4 { T x __attribute__((aligned(align4))), y, z, w; } name##4;                            \
  static inline name##1 make_##name##1(T x) { name##1 v; v.x = x; return v; }                                   \
  static inline name##2 make_##name##2(T x, T y) { name##2 v; v.x = x; v.y = y; return v; }                     \
  static inline name##3 make_##name##3(T x, T y, T z) { name##3 v; v.x = x; v.y = y; v.z = z; return v; }       \
  static inline name##4 make_##name##4(T x, T y, T z, T w) {                                                    \
    name##4 v;                                                                                                  \
    v.x = x; v.y = y; v.z = z; v.w = w;                                                                         \
    return v;                                                                                                   \
  }
RIDGE_VECTORS_C(signed char, char, 2, 4)
RIDGE_VECTORS_C(unsigned char, uchar, 2, 4)
RIDGE_VECTORS_C(short, short, 4, 8)
RIDGE_VECTORS_C(unsigned short, ushort, 4, 8)
RIDGE_VECTORS_C(int, int, 8, 16)
RIDGE_VECTORS_C(unsigned, uint, 8, 16)
RIDGE_VECTORS_C(float, float, 8, 16)
RIDGE_VECTORS_C(long, long, 16, 16)
RIDGE_VECTORS_C(unsigned long, ulong, 16, 16)
RIDGE_VECTORS_C(long long, longlong, 16, 16)
RIDGE_VECTORS_C(unsigned long long, ulonglong, 16, 16)
RIDGE_VECTORS_C(double, double, 16, 16)
#undef RIDGE_VECTORS_C

typedef struct dim3 { unsigned x, y, z; } dim3;
