// bfloat16 with its conversions alone.
#pragma once
#include "cuda_runtime.h"
struct __nv_bfloat16 { unsigned short bits; };
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
static __host__ __device__ inline float __bfloat162float(__nv_bfloat16 v) {
  const unsigned bits = static_cast<unsigned>(v.bits) << 16;
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}
static __host__ __device__ inline __nv_bfloat16 __float2bfloat16(float f) {  // to the nearest, ties to even
  unsigned bits;
  __builtin_memcpy(&bits, &f, 4);
  return {static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}
