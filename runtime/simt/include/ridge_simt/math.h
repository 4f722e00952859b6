// CUDA's math functions beyond <math.h>. Results are correctly rounded where CUDA's are (arithmetic, conversions, square
// roots); other functions are glibc's, within 1 ulp or so, where CUDA publishes 1 to 4 ulp, and intrinsics such as __expf
// are as exact as expf, where a GPU's are not. Compare with tolerances. Nothing is fused: a * b + c rounds twice, whereas
// nvcc makes one fused operation of it.
#pragma once
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "../vector_types.h"
#include "math_library.h"

// Smaller and larger: the usual conversions for mixed arguments; a number rather than NaN.
#define RIDGE_MIN_MAX(A, B, R)                                                  \
  RIDGE_INLINE R min(const A a, const B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  RIDGE_INLINE R max(const A a, const B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define RIDGE_MIN_MAX_MIXED(S) \
  RIDGE_MIN_MAX(S, S, S)       \
  RIDGE_MIN_MAX(unsigned S, unsigned S, unsigned S) RIDGE_MIN_MAX(S, unsigned S, unsigned S) RIDGE_MIN_MAX(unsigned S, S, unsigned S)
RIDGE_MIN_MAX_MIXED(int)
RIDGE_MIN_MAX_MIXED(long)
RIDGE_MIN_MAX_MIXED(long long)
#undef RIDGE_MIN_MAX
#undef RIDGE_MIN_MAX_MIXED
RIDGE_INLINE float min(const float a, const float b) { return __builtin_fminf(a, b); }
RIDGE_INLINE float max(const float a, const float b) { return __builtin_fmaxf(a, b); }
RIDGE_INLINE double min(const double a, const double b) { return __builtin_fmin(a, b); }
RIDGE_INLINE double max(const double a, const double b) { return __builtin_fmax(a, b); }
RIDGE_INLINE double min(const float a, const double b) { return __builtin_fmin(a, b); }
RIDGE_INLINE double max(const float a, const double b) { return __builtin_fmax(a, b); }
RIDGE_INLINE double min(const double a, const float b) { return __builtin_fmin(a, b); }
RIDGE_INLINE double max(const double a, const float b) { return __builtin_fmax(a, b); }
RIDGE_INLINE unsigned umin(const unsigned a, const unsigned b) { return a < b ? a : b; }
RIDGE_INLINE unsigned umax(const unsigned a, const unsigned b) { return a < b ? b : a; }
RIDGE_INLINE long long llmin(const long long a, const long long b) { return a < b ? a : b; }
RIDGE_INLINE long long llmax(const long long a, const long long b) { return a < b ? b : a; }
RIDGE_INLINE unsigned long long ullmin(const unsigned long long a, const unsigned long long b) { return a < b ? a : b; }
RIDGE_INLINE unsigned long long ullmax(const unsigned long long a, const unsigned long long b) { return a < b ? b : a; }

// Functions of one argument, by way of double for float.
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)  // has the pi functions itself
#define RIDGE_DOUBLE_PI(name, expression)
#else
#define RIDGE_DOUBLE_PI(name, expression) RIDGE_INLINE double name(const double x) { return expression; }
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 42)
#define RIDGE_DOUBLE_RSQRT(name, expression)
#else
#define RIDGE_DOUBLE_RSQRT(name, expression) RIDGE_INLINE double name(const double x) { return expression; }
#endif
#define RIDGE_DOUBLE(name, expression) RIDGE_INLINE double name(const double x) { return expression; }
#define RIDGE_FLOAT(name, expression)                                                         \
  RIDGE_INLINE float name##f(const float v) { const double x = v; return (float)(expression); } \
  RIDGE_INLINE float name(const float v) { return name##f(v); }
RIDGE_DOUBLE_RSQRT(rsqrt, 1 / __builtin_sqrt(x))
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 42)
RIDGE_INLINE float rsqrt(const float x) { return (float)(1 / __builtin_sqrt((double)x)); }
#else
RIDGE_FLOAT(rsqrt, 1 / __builtin_sqrt(x))
#endif
RIDGE_DOUBLE_PI(sinpi, ridge_simt::sin_pi(x))
RIDGE_DOUBLE_PI(cospi, ridge_simt::cos_pi(x))
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)
RIDGE_INLINE float sinpi(const float x) { return (float)ridge_simt::sin_pi(x); }
RIDGE_INLINE float cospi(const float x) { return (float)ridge_simt::cos_pi(x); }
#else
RIDGE_FLOAT(sinpi, ridge_simt::sin_pi(x))
RIDGE_FLOAT(cospi, ridge_simt::cos_pi(x))
#endif
#define RIDGE_BOTH(name, expression) \
  RIDGE_DOUBLE(name, expression)     \
  RIDGE_FLOAT(name, expression)
RIDGE_BOTH(rcbrt, 1 / __builtin_cbrt(x))
RIDGE_BOTH(erfinv, ridge_simt::erf_inverse(x))
RIDGE_BOTH(erfcinv, (x > 0.5 && x < 1.5) ? ridge_simt::erf_inverse(1 - x) : -ridge_simt::normal_inverse(x / 2) * M_SQRT1_2)
RIDGE_BOTH(erfcx, ridge_simt::erfc_scaled(x))
RIDGE_BOTH(normcdf, 0.5 * __builtin_erfc(-x * M_SQRT1_2))
RIDGE_BOTH(normcdfinv, ridge_simt::normal_inverse(x))
#undef RIDGE_BOTH
#undef RIDGE_DOUBLE
#undef RIDGE_DOUBLE_PI
#undef RIDGE_DOUBLE_RSQRT
#undef RIDGE_FLOAT
RIDGE_INLINE float exp10(const float x) { return ::exp10f(x); }
RIDGE_INLINE void sincos(const float x, float* s, float* c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}
RIDGE_INLINE void sincospi(const double x, double* s, double* c) {
  *s = ridge_simt::sin_pi(x);
  *c = ridge_simt::cos_pi(x);
}
RIDGE_INLINE void sincospif(const float x, float* s, float* c) {
  *s = (float)ridge_simt::sin_pi(x);
  *c = (float)ridge_simt::cos_pi(x);
}
RIDGE_INLINE void sincospi(const float x, float* s, float* c) { sincospif(x, s, c); }

// Lengths.
RIDGE_INLINE double norm3d(const double a, const double b, const double c) { return __builtin_hypot(__builtin_hypot(a, b), c); }
RIDGE_INLINE double norm4d(const double a, const double b, const double c, const double d) {
  return __builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d));
}
RIDGE_INLINE double rhypot(const double a, const double b) { return 1 / __builtin_hypot(a, b); }
RIDGE_INLINE double rnorm3d(const double a, const double b, const double c) { return 1 / norm3d(a, b, c); }
RIDGE_INLINE double rnorm4d(const double a, const double b, const double c, const double d) { return 1 / norm4d(a, b, c, d); }
RIDGE_INLINE float norm3df(const float a, const float b, const float c) { return (float)norm3d(a, b, c); }
RIDGE_INLINE float norm4df(const float a, const float b, const float c, const float d) { return (float)norm4d(a, b, c, d); }
RIDGE_INLINE float rhypotf(const float a, const float b) { return (float)rhypot((double)a, (double)b); }
RIDGE_INLINE float rnorm3df(const float a, const float b, const float c) { return (float)rnorm3d(a, b, c); }
RIDGE_INLINE float rnorm4df(const float a, const float b, const float c, const float d) { return (float)rnorm4d(a, b, c, d); }
RIDGE_INLINE double norm(const int n, const double* p) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum = __builtin_hypot(sum, p[i]);
  return sum;
}
RIDGE_INLINE float normf(const int n, const float* p) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += (double)p[i] * p[i];
  return (float)__builtin_sqrt(sum);
}
RIDGE_INLINE double rnorm(const int n, const double* p) { return 1 / norm(n, p); }
RIDGE_INLINE float rnormf(const int n, const float* p) { return 1 / normf(n, p); }

// Intrinsics.
RIDGE_INLINE float fdividef(const float a, const float b) { return a / b; }
RIDGE_INLINE float __fdividef(const float a, const float b) { return a / b; }
RIDGE_INLINE double fdivide(const double a, const double b) { return a / b; }
RIDGE_INLINE float __saturatef(const float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
RIDGE_INLINE float saturatef(const float x) { return __saturatef(x); }
RIDGE_INLINE float __expf(const float x) { return __builtin_expf(x); }
RIDGE_INLINE float __exp10f(const float x) { return ::exp10f(x); }
RIDGE_INLINE float __logf(const float x) { return __builtin_logf(x); }
RIDGE_INLINE float __log2f(const float x) { return __builtin_log2f(x); }
RIDGE_INLINE float __log10f(const float x) { return __builtin_log10f(x); }
RIDGE_INLINE float __powf(const float x, const float y) { return __builtin_powf(x, y); }
RIDGE_INLINE float __sinf(const float x) { return __builtin_sinf(x); }
RIDGE_INLINE float __cosf(const float x) { return __builtin_cosf(x); }
RIDGE_INLINE float __tanf(const float x) { return __builtin_tanf(x); }
RIDGE_INLINE float __tanhf(const float x) { return __builtin_tanhf(x); }
RIDGE_INLINE void __sincosf(const float x, float* s, float* c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}
RIDGE_INLINE float __frsqrt_rn(const float x) { return (float)(1 / __builtin_sqrt((double)x)); }

// Arithmetic in a rounding mode.
RIDGE_INLINE float __fadd_rn(const float a, const float b) { return a + b; }
RIDGE_INLINE float __fadd_rz(const float a, const float b) { return ridge_simt::directed('+', a, b, float(), ridge_simt::Round::zero); }
RIDGE_INLINE float __fadd_ru(const float a, const float b) { return ridge_simt::directed('+', a, b, float(), ridge_simt::Round::up); }
RIDGE_INLINE float __fadd_rd(const float a, const float b) { return ridge_simt::directed('+', a, b, float(), ridge_simt::Round::down); }
RIDGE_INLINE float __fsub_rn(const float a, const float b) { return a - b; }
RIDGE_INLINE float __fsub_rz(const float a, const float b) { return ridge_simt::directed('-', a, b, float(), ridge_simt::Round::zero); }
RIDGE_INLINE float __fsub_ru(const float a, const float b) { return ridge_simt::directed('-', a, b, float(), ridge_simt::Round::up); }
RIDGE_INLINE float __fsub_rd(const float a, const float b) { return ridge_simt::directed('-', a, b, float(), ridge_simt::Round::down); }
RIDGE_INLINE float __fmul_rn(const float a, const float b) { return a * b; }
RIDGE_INLINE float __fmul_rz(const float a, const float b) { return ridge_simt::directed('*', a, b, float(), ridge_simt::Round::zero); }
RIDGE_INLINE float __fmul_ru(const float a, const float b) { return ridge_simt::directed('*', a, b, float(), ridge_simt::Round::up); }
RIDGE_INLINE float __fmul_rd(const float a, const float b) { return ridge_simt::directed('*', a, b, float(), ridge_simt::Round::down); }
RIDGE_INLINE float __fdiv_rn(const float a, const float b) { return a / b; }
RIDGE_INLINE float __fdiv_rz(const float a, const float b) { return ridge_simt::directed('/', a, b, float(), ridge_simt::Round::zero); }
RIDGE_INLINE float __fdiv_ru(const float a, const float b) { return ridge_simt::directed('/', a, b, float(), ridge_simt::Round::up); }
RIDGE_INLINE float __fdiv_rd(const float a, const float b) { return ridge_simt::directed('/', a, b, float(), ridge_simt::Round::down); }
RIDGE_INLINE float __fmaf_rn(const float a, const float b, const float c) { return __builtin_fmaf(a, b, c); }
RIDGE_INLINE float __fsqrt_rn(const float a) { return __builtin_sqrtf(a); }
RIDGE_INLINE float __frcp_rn(const float a) { return 1 / a; }
RIDGE_INLINE float __fmaf_rz(const float a, const float b, const float c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::zero); }
RIDGE_INLINE float __fsqrt_rz(const float a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::zero); }
RIDGE_INLINE float __frcp_rz(const float a) { return ridge_simt::directed('/', float(1), a, a, ridge_simt::Round::zero); }
RIDGE_INLINE float __fmaf_ru(const float a, const float b, const float c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::up); }
RIDGE_INLINE float __fsqrt_ru(const float a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::up); }
RIDGE_INLINE float __frcp_ru(const float a) { return ridge_simt::directed('/', float(1), a, a, ridge_simt::Round::up); }
RIDGE_INLINE float __fmaf_rd(const float a, const float b, const float c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::down); }
RIDGE_INLINE float __fsqrt_rd(const float a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::down); }
RIDGE_INLINE float __frcp_rd(const float a) { return ridge_simt::directed('/', float(1), a, a, ridge_simt::Round::down); }
RIDGE_INLINE double __dadd_rn(const double a, const double b) { return a + b; }
RIDGE_INLINE double __dadd_rz(const double a, const double b) { return ridge_simt::directed('+', a, b, double(), ridge_simt::Round::zero); }
RIDGE_INLINE double __dadd_ru(const double a, const double b) { return ridge_simt::directed('+', a, b, double(), ridge_simt::Round::up); }
RIDGE_INLINE double __dadd_rd(const double a, const double b) { return ridge_simt::directed('+', a, b, double(), ridge_simt::Round::down); }
RIDGE_INLINE double __dsub_rn(const double a, const double b) { return a - b; }
RIDGE_INLINE double __dsub_rz(const double a, const double b) { return ridge_simt::directed('-', a, b, double(), ridge_simt::Round::zero); }
RIDGE_INLINE double __dsub_ru(const double a, const double b) { return ridge_simt::directed('-', a, b, double(), ridge_simt::Round::up); }
RIDGE_INLINE double __dsub_rd(const double a, const double b) { return ridge_simt::directed('-', a, b, double(), ridge_simt::Round::down); }
RIDGE_INLINE double __dmul_rn(const double a, const double b) { return a * b; }
RIDGE_INLINE double __dmul_rz(const double a, const double b) { return ridge_simt::directed('*', a, b, double(), ridge_simt::Round::zero); }
RIDGE_INLINE double __dmul_ru(const double a, const double b) { return ridge_simt::directed('*', a, b, double(), ridge_simt::Round::up); }
RIDGE_INLINE double __dmul_rd(const double a, const double b) { return ridge_simt::directed('*', a, b, double(), ridge_simt::Round::down); }
RIDGE_INLINE double __ddiv_rn(const double a, const double b) { return a / b; }
RIDGE_INLINE double __ddiv_rz(const double a, const double b) { return ridge_simt::directed('/', a, b, double(), ridge_simt::Round::zero); }
RIDGE_INLINE double __ddiv_ru(const double a, const double b) { return ridge_simt::directed('/', a, b, double(), ridge_simt::Round::up); }
RIDGE_INLINE double __ddiv_rd(const double a, const double b) { return ridge_simt::directed('/', a, b, double(), ridge_simt::Round::down); }
RIDGE_INLINE double __fma_rn(const double a, const double b, const double c) { return __builtin_fma(a, b, c); }
RIDGE_INLINE double __dsqrt_rn(const double a) { return __builtin_sqrt(a); }
RIDGE_INLINE double __drcp_rn(const double a) { return 1 / a; }
RIDGE_INLINE double __fma_rz(const double a, const double b, const double c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::zero); }
RIDGE_INLINE double __dsqrt_rz(const double a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::zero); }
RIDGE_INLINE double __drcp_rz(const double a) { return ridge_simt::directed('/', double(1), a, a, ridge_simt::Round::zero); }
RIDGE_INLINE double __fma_ru(const double a, const double b, const double c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::up); }
RIDGE_INLINE double __dsqrt_ru(const double a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::up); }
RIDGE_INLINE double __drcp_ru(const double a) { return ridge_simt::directed('/', double(1), a, a, ridge_simt::Round::up); }
RIDGE_INLINE double __fma_rd(const double a, const double b, const double c) { return ridge_simt::directed('f', a, b, c, ridge_simt::Round::down); }
RIDGE_INLINE double __dsqrt_rd(const double a) { return ridge_simt::directed('s', a, a, a, ridge_simt::Round::down); }
RIDGE_INLINE double __drcp_rd(const double a) { return ridge_simt::directed('/', double(1), a, a, ridge_simt::Round::down); }

// Conversions: to integers, out of range is the nearest end, and NaN is 0 (the lowest number for 64 bits and for doubles).
RIDGE_INLINE int __float2int_rn(const float v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::nearest, 32, 0); }
RIDGE_INLINE int __float2int_rz(const float v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::zero, 32, 0); }
RIDGE_INLINE int __float2int_ru(const float v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::up, 32, 0); }
RIDGE_INLINE int __float2int_rd(const float v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::down, 32, 0); }
RIDGE_INLINE unsigned __float2uint_rn(const float v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::nearest, 32, 0); }
RIDGE_INLINE unsigned __float2uint_rz(const float v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::zero, 32, 0); }
RIDGE_INLINE unsigned __float2uint_ru(const float v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::up, 32, 0); }
RIDGE_INLINE unsigned __float2uint_rd(const float v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::down, 32, 0); }
RIDGE_INLINE long long __float2ll_rn(const float v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::nearest, 64, LLONG_MIN); }
RIDGE_INLINE long long __float2ll_rz(const float v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::zero, 64, LLONG_MIN); }
RIDGE_INLINE long long __float2ll_ru(const float v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::up, 64, LLONG_MIN); }
RIDGE_INLINE long long __float2ll_rd(const float v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::down, 64, LLONG_MIN); }
RIDGE_INLINE unsigned long long __float2ull_rn(const float v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::nearest, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __float2ull_rz(const float v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::zero, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __float2ull_ru(const float v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::up, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __float2ull_rd(const float v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::down, 64, 1ull << 63); }
RIDGE_INLINE int __double2int_rn(const double v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::nearest, 32, INT_MIN); }
RIDGE_INLINE int __double2int_rz(const double v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::zero, 32, INT_MIN); }
RIDGE_INLINE int __double2int_ru(const double v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::up, 32, INT_MIN); }
RIDGE_INLINE int __double2int_rd(const double v) { return (int)ridge_simt::to_signed(v, ridge_simt::Round::down, 32, INT_MIN); }
RIDGE_INLINE unsigned __double2uint_rn(const double v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::nearest, 32, 1u << 31); }
RIDGE_INLINE unsigned __double2uint_rz(const double v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::zero, 32, 1u << 31); }
RIDGE_INLINE unsigned __double2uint_ru(const double v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::up, 32, 1u << 31); }
RIDGE_INLINE unsigned __double2uint_rd(const double v) { return (unsigned)ridge_simt::to_unsigned(v, ridge_simt::Round::down, 32, 1u << 31); }
RIDGE_INLINE long long __double2ll_rn(const double v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::nearest, 64, LLONG_MIN); }
RIDGE_INLINE long long __double2ll_rz(const double v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::zero, 64, LLONG_MIN); }
RIDGE_INLINE long long __double2ll_ru(const double v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::up, 64, LLONG_MIN); }
RIDGE_INLINE long long __double2ll_rd(const double v) { return (long long)ridge_simt::to_signed(v, ridge_simt::Round::down, 64, LLONG_MIN); }
RIDGE_INLINE unsigned long long __double2ull_rn(const double v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::nearest, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __double2ull_rz(const double v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::zero, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __double2ull_ru(const double v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::up, 64, 1ull << 63); }
RIDGE_INLINE unsigned long long __double2ull_rd(const double v) { return (unsigned long long)ridge_simt::to_unsigned(v, ridge_simt::Round::down, 64, 1ull << 63); }
RIDGE_INLINE float __int2float_rn(const int v) { return (float)v; }
RIDGE_INLINE double __int2double_rn(const int v) { return (double)v; }
RIDGE_INLINE float __int2float_rz(const int v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::zero); }
RIDGE_INLINE float __int2float_ru(const int v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::up); }
RIDGE_INLINE float __int2float_rd(const int v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::down); }
RIDGE_INLINE float __uint2float_rn(const unsigned v) { return (float)v; }
RIDGE_INLINE double __uint2double_rn(const unsigned v) { return (double)v; }
RIDGE_INLINE float __uint2float_rz(const unsigned v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::zero); }
RIDGE_INLINE float __uint2float_ru(const unsigned v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::up); }
RIDGE_INLINE float __uint2float_rd(const unsigned v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::down); }
RIDGE_INLINE float __ll2float_rn(const long long v) { return (float)v; }
RIDGE_INLINE double __ll2double_rn(const long long v) { return (double)v; }
RIDGE_INLINE float __ll2float_rz(const long long v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::zero); }
RIDGE_INLINE double __ll2double_rz(const long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::zero); }
RIDGE_INLINE float __ll2float_ru(const long long v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::up); }
RIDGE_INLINE double __ll2double_ru(const long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::up); }
RIDGE_INLINE float __ll2float_rd(const long long v) { return ridge_simt::round_to_float((long long)v, ridge_simt::Round::down); }
RIDGE_INLINE double __ll2double_rd(const long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::down); }
RIDGE_INLINE float __ull2float_rn(const unsigned long long v) { return (float)v; }
RIDGE_INLINE double __ull2double_rn(const unsigned long long v) { return (double)v; }
RIDGE_INLINE float __ull2float_rz(const unsigned long long v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::zero); }
RIDGE_INLINE double __ull2double_rz(const unsigned long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::zero); }
RIDGE_INLINE float __ull2float_ru(const unsigned long long v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::up); }
RIDGE_INLINE double __ull2double_ru(const unsigned long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::up); }
RIDGE_INLINE float __ull2float_rd(const unsigned long long v) { return ridge_simt::round_to_float((unsigned long long)v, ridge_simt::Round::down); }
RIDGE_INLINE double __ull2double_rd(const unsigned long long v) { return ridge_simt::round_to_double(v, ridge_simt::Round::down); }
RIDGE_INLINE float __double2float_rn(const double v) { return (float)v; }
RIDGE_INLINE float __double2float_rz(const double v) { return ridge_simt::round_to_float(v, ridge_simt::Round::zero); }
RIDGE_INLINE float __double2float_ru(const double v) { return ridge_simt::round_to_float(v, ridge_simt::Round::up); }
RIDGE_INLINE float __double2float_rd(const double v) { return ridge_simt::round_to_float(v, ridge_simt::Round::down); }

// Bits.
namespace ridge_simt {
template <class To, class From>
RIDGE_INLINE To same_bits(const From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
}  // namespace ridge_simt
RIDGE_INLINE int __float_as_int(const float v) { return ridge_simt::same_bits<int>(v); }
RIDGE_INLINE unsigned __float_as_uint(const float v) { return ridge_simt::same_bits<unsigned>(v); }
RIDGE_INLINE float __int_as_float(const int v) { return ridge_simt::same_bits<float>(v); }
RIDGE_INLINE float __uint_as_float(const unsigned v) { return ridge_simt::same_bits<float>(v); }
RIDGE_INLINE long long __double_as_longlong(const double v) { return ridge_simt::same_bits<long long>(v); }
RIDGE_INLINE double __longlong_as_double(const long long v) { return ridge_simt::same_bits<double>(v); }
RIDGE_INLINE double __hiloint2double(const int high, const int low) {
  return ridge_simt::same_bits<double>((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
RIDGE_INLINE int __double2hiint(const double v) { return (int)(__double_as_longlong(v) >> 32); }
RIDGE_INLINE int __double2loint(const double v) { return (int)__double_as_longlong(v); }
