// Complex numbers as CUDA's C interface has them: pairs with functions.
#pragma once
#define CU_COMPLEX_H_
#include <math.h>

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define RIDGE_COMPLEX(C, T, f, make)                                                               \
  RIDGE_C_INLINE C make(T re, T im) { C z; z.x = re; z.y = im; return z; }                                 \
  RIDGE_C_INLINE T cuCreal##f(C z) { return z.x; }                                                         \
  RIDGE_C_INLINE T cuCimag##f(C z) { return z.y; }                                                         \
  RIDGE_C_INLINE C cuConj##f(C z) { return make(z.x, -z.y); }                                              \
  RIDGE_C_INLINE C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }                              \
  RIDGE_C_INLINE C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }                              \
  RIDGE_C_INLINE C cuCmul##f(C a, C b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }      \
  /* Scaled first, so that no square overflows. */                                                 \
  RIDGE_C_INLINE C cuCdiv##f(C a, C b) {                                                                   \
    const T s = fabs##f(b.x) + fabs##f(b.y);                                                   \
    const T ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s, d = bx * bx + by * by;         \
    return make((ax * bx + ay * by) / d, (ay * bx - ax * by) / d);                                 \
  }                                                                                                \
  RIDGE_C_INLINE T cuCabs##f(C z) { return hypot##f(z.x, z.y); }                                         \
  RIDGE_C_INLINE C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
RIDGE_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
RIDGE_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef RIDGE_COMPLEX
RIDGE_C_INLINE cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
RIDGE_C_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
RIDGE_C_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
