// half with its conversions alone.
#pragma once
#include "cuda_runtime.h"
struct __half { unsigned short bits; };
struct alignas(4) __half2 { __half x, y; };
typedef __half half;
typedef __half2 half2;
static __device__ inline float __half2float(__half v) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
  return f;
}
static __device__ inline __half __float2half(float f) {
  __half v;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(v.bits) : "f"(f));
  return v;
}
static __device__ inline __half __float2half_rn(float f) { return __float2half(f); }
static __device__ inline unsigned short __half_as_ushort(__half v) { return v.bits; }
static __device__ inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
