// CUDA's vector types, as plain structs with CUDA's alignments.
#pragma once
#define RIDGE_VECTORS(T, name, align2, align4)                                                              \
  struct name##1 { T x; };                                                                                  \
  struct alignas(align2) name##2 { T x, y; };                                                               \
  struct name##3 { T x, y, z; };                                                                            \
  struct alignas(align4) name##4 { T x, y, z, w; };                                                         \
  static __host__ __device__ inline name##1 make_##name##1(T x) { return {x}; }                             \
  static __host__ __device__ inline name##2 make_##name##2(T x, T y) { return {x, y}; }                     \
  static __host__ __device__ inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }             \
  static __host__ __device__ inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
RIDGE_VECTORS(signed char, char, 2, 4)
RIDGE_VECTORS(unsigned char, uchar, 2, 4)
RIDGE_VECTORS(short, short, 4, 8)
RIDGE_VECTORS(unsigned short, ushort, 4, 8)
RIDGE_VECTORS(int, int, 8, 16)
RIDGE_VECTORS(unsigned, uint, 8, 16)
RIDGE_VECTORS(float, float, 8, 16)
RIDGE_VECTORS(long, long, 16, 16)
RIDGE_VECTORS(unsigned long, ulong, 16, 16)
RIDGE_VECTORS(long long, longlong, 16, 16)
RIDGE_VECTORS(unsigned long long, ulonglong, 16, 16)
RIDGE_VECTORS(double, double, 16, 16)
#undef RIDGE_VECTORS

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
