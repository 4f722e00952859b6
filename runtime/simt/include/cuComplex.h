// Complex numbers as CUDA's C interface has them: pairs with functions.
#pragma once
#define CU_COMPLEX_H_
#include <cmath>

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define RIDGE_COMPLEX(C, T, f, make)                                                               \
  inline C make(T re, T im) { C z; z.x = re; z.y = im; return z; }                                 \
  inline T cuCreal##f(C z) { return z.x; }                                                         \
  inline T cuCimag##f(C z) { return z.y; }                                                         \
  inline C cuConj##f(C z) { return make(z.x, -z.y); }                                              \
  inline C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }                              \
  inline C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }                              \
  inline C cuCmul##f(C a, C b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }      \
  /* Scaled first, so that no square overflows. */                                                 \
  inline C cuCdiv##f(C a, C b) {                                                                   \
    const T s = std::fabs(b.x) + std::fabs(b.y);                                                   \
    const T ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s, d = bx * bx + by * by;         \
    return make((ax * bx + ay * by) / d, (ay * bx - ax * by) / d);                                 \
  }                                                                                                \
  inline T cuCabs##f(C z) { return std::hypot(z.x, z.y); }                                         \
  inline C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
RIDGE_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
RIDGE_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef RIDGE_COMPLEX
inline cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}
