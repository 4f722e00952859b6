// The functions of cuda_fp16.h and cuda_bf16.h, which differ in names only. The including header defines
//   RIDGE_H, RIDGE_H2  the types         RIDGE_N, RIDGE_N2  their names inside function names
//   RIDGE_F            the format        RIDGE_ONE          the bits of 1
//   RIDGE_IS_BF16      whether it is bf16
#ifndef RIDGE_J3
#define RIDGE_J3_(a, b, c) a##b##c
#define RIDGE_J3(a, b, c) RIDGE_J3_(a, b, c)
#define RIDGE_J5_(a, b, c, d, e) a##b##c##d##e
#define RIDGE_J5(a, b, c, d, e) RIDGE_J5_(a, b, c, d, e)
#endif
#define RIDGE_FN RIDGE_INLINE

namespace ridge_simt {
RIDGE_FN RIDGE_H from_bits(RIDGE_F, std::uint16_t bits) { return RIDGE_H(RIDGE_H_RAW{bits}); }
RIDGE_FN RIDGE_H2 from_bits2(RIDGE_F, std::uint32_t bits) {
  return RIDGE_H2(from_bits(RIDGE_F(), (std::uint16_t)bits), from_bits(RIDGE_F(), (std::uint16_t)(bits >> 16)));
}
RIDGE_FN std::uint16_t to_bits(RIDGE_H a) { return a.__x; }
RIDGE_FN std::uint32_t to_bits(RIDGE_H2 a) { return a.x.__x | (std::uint32_t)a.y.__x << 16; }
}  // namespace ridge_simt
#define RIDGE_MAKE(bits) ridge_simt::from_bits(ridge_simt::RIDGE_F(), bits)
#define RIDGE_MAKE2(bits) ridge_simt::from_bits2(ridge_simt::RIDGE_F(), bits)

// Conversions.
RIDGE_FN float RIDGE_J3(__, RIDGE_N, 2float)(const RIDGE_H a) { return ridge_simt::RIDGE_F::widen(a.__x); }
RIDGE_FN RIDGE_H RIDGE_J3(__float2, RIDGE_N, )(const float a) { return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow(a)); }
RIDGE_FN RIDGE_H RIDGE_J3(__float2, RIDGE_N, _rn)(const float a) { return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow(a)); }
RIDGE_FN RIDGE_H RIDGE_J3(__double2, RIDGE_N, )(const double a) {
  return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow(a, ridge_simt::Round::nearest));
}
#define RIDGE_FLOAT_TO(suffix, mode)                                              \
  RIDGE_FN RIDGE_H RIDGE_J3(__float2, RIDGE_N, suffix)(const float a) {           \
    return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow((double)a, ridge_simt::mode));  \
  }
RIDGE_FLOAT_TO(_rz, Round::zero)
RIDGE_FLOAT_TO(_ru, Round::up)
RIDGE_FLOAT_TO(_rd, Round::down)
#undef RIDGE_FLOAT_TO

#define RIDGE_INTEGER_MODE(T, word, wide, bits, to, nan, suffix, mode)                             \
  RIDGE_FN RIDGE_H RIDGE_J5(__, word, 2, RIDGE_N, suffix)(const T a) {                             \
    return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow((wide)a, ridge_simt::mode));                     \
  }                                                                                                \
  RIDGE_FN T RIDGE_J5(__, RIDGE_N, 2, word, suffix)(const RIDGE_H a) {                             \
    return (T)ridge_simt::to(ridge_simt::RIDGE_F::widen(a.__x), ridge_simt::mode, bits, nan);      \
  }
#define RIDGE_INTEGER(T, word, wide, bits, to, nan)                                \
  RIDGE_INTEGER_MODE(T, word, wide, bits, to, nan, _rn, Round::nearest)            \
  RIDGE_INTEGER_MODE(T, word, wide, bits, to, nan, _rz, Round::zero)               \
  RIDGE_INTEGER_MODE(T, word, wide, bits, to, nan, _ru, Round::up)                 \
  RIDGE_INTEGER_MODE(T, word, wide, bits, to, nan, _rd, Round::down)
RIDGE_INTEGER(short, short, long long, 16, to_signed, 0)
RIDGE_INTEGER(unsigned short, ushort, unsigned long long, 16, to_unsigned, 0)
RIDGE_INTEGER(int, int, long long, 32, to_signed, 0)
RIDGE_INTEGER(unsigned, uint, unsigned long long, 32, to_unsigned, 0)
RIDGE_INTEGER(long long, ll, long long, 64, to_signed, INT64_MIN)
RIDGE_INTEGER(unsigned long long, ull, unsigned long long, 64, to_unsigned, 1ull << 63)
#undef RIDGE_INTEGER
#undef RIDGE_INTEGER_MODE
RIDGE_FN signed char RIDGE_J3(__, RIDGE_N, 2char_rz)(const RIDGE_H a) {
  return (signed char)ridge_simt::to_signed(ridge_simt::RIDGE_F::widen(a.__x), ridge_simt::Round::zero, 8, 0);
}
RIDGE_FN unsigned char RIDGE_J3(__, RIDGE_N, 2uchar_rz)(const RIDGE_H a) {
  return (unsigned char)ridge_simt::to_unsigned(ridge_simt::RIDGE_F::widen(a.__x), ridge_simt::Round::zero, 8, 0);
}

RIDGE_FN short RIDGE_J3(__, RIDGE_N, _as_short)(const RIDGE_H a) { return (short)a.__x; }
RIDGE_FN unsigned short RIDGE_J3(__, RIDGE_N, _as_ushort)(const RIDGE_H a) { return a.__x; }
RIDGE_FN RIDGE_H RIDGE_J3(__short_as_, RIDGE_N, )(const short a) { return RIDGE_MAKE((std::uint16_t)a); }
RIDGE_FN RIDGE_H RIDGE_J3(__ushort_as_, RIDGE_N, )(const unsigned short a) { return RIDGE_MAKE(a); }

// Two numbers: packing and taking apart.
RIDGE_FN RIDGE_H2 RIDGE_J3(make_, RIDGE_N2, )(const RIDGE_H x, const RIDGE_H y) { return RIDGE_H2(x, y); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__halves2, RIDGE_N2, )(const RIDGE_H x, const RIDGE_H y) { return RIDGE_H2(x, y); }
RIDGE_FN RIDGE_H2 RIDGE_J5(__, RIDGE_N, 2, RIDGE_N2, )(const RIDGE_H a) { return RIDGE_H2(a, a); }
RIDGE_FN RIDGE_H RIDGE_J3(__low2, RIDGE_N, )(const RIDGE_H2 a) { return a.x; }
RIDGE_FN RIDGE_H RIDGE_J3(__high2, RIDGE_N, )(const RIDGE_H2 a) { return a.y; }
RIDGE_FN RIDGE_H2 RIDGE_J3(__low2, RIDGE_N2, )(const RIDGE_H2 a) { return RIDGE_H2(a.x, a.x); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__high2, RIDGE_N2, )(const RIDGE_H2 a) { return RIDGE_H2(a.y, a.y); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__lows2, RIDGE_N2, )(const RIDGE_H2 a, const RIDGE_H2 b) { return RIDGE_H2(a.x, b.x); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__highs2, RIDGE_N2, )(const RIDGE_H2 a, const RIDGE_H2 b) { return RIDGE_H2(a.y, b.y); }
RIDGE_FN RIDGE_H2 __lowhigh2highlow(const RIDGE_H2 a) { return RIDGE_H2(a.y, a.x); }
RIDGE_FN float __low2float(const RIDGE_H2 a) { return ridge_simt::RIDGE_F::widen(a.x.__x); }
RIDGE_FN float __high2float(const RIDGE_H2 a) { return ridge_simt::RIDGE_F::widen(a.y.__x); }
RIDGE_FN float2 RIDGE_J3(__, RIDGE_N2, 2float2)(const RIDGE_H2 a) {
  return float2(ridge_simt::RIDGE_F::widen(a.x.__x), ridge_simt::RIDGE_F::widen(a.y.__x));
}
RIDGE_FN RIDGE_H2 RIDGE_J3(__floats2, RIDGE_N2, _rn)(const float x, const float y) { return RIDGE_H2(RIDGE_H(x), RIDGE_H(y)); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__float2, RIDGE_N2, _rn)(const float x) { return RIDGE_H2(RIDGE_H(x), RIDGE_H(x)); }
RIDGE_FN RIDGE_H2 RIDGE_J3(__float22, RIDGE_N2, _rn)(const float2 a) { return RIDGE_H2(RIDGE_H(a.x), RIDGE_H(a.y)); }

// Arithmetic. The _rn forms are those that a compiler may not fuse; here nothing is fused.
#define RIDGE_BINARY(op)                                                                                              \
  RIDGE_FN RIDGE_H __h##op(const RIDGE_H a, const RIDGE_H b) { return RIDGE_MAKE(ridge_simt::RIDGE_F::op(a.__x, b.__x)); } \
  RIDGE_FN RIDGE_H __h##op##_rn(const RIDGE_H a, const RIDGE_H b) { return __h##op(a, b); }                           \
  RIDGE_FN RIDGE_H __h##op##_sat(const RIDGE_H a, const RIDGE_H b) {                                                  \
    return RIDGE_MAKE(ridge_simt::RIDGE_F::saturate(__h##op(a, b).__x));                                              \
  }                                                                                                                   \
  RIDGE_FN RIDGE_H2 __h##op##2(const RIDGE_H2 a, const RIDGE_H2 b) {                                                  \
    return RIDGE_MAKE2(ridge_simt::RIDGE_F::op##2(ridge_simt::to_bits(a), ridge_simt::to_bits(b)));                   \
  }                                                                                                                   \
  RIDGE_FN RIDGE_H2 __h##op##2_rn(const RIDGE_H2 a, const RIDGE_H2 b) { return __h##op##2(a, b); }                    \
  RIDGE_FN RIDGE_H2 __h##op##2_sat(const RIDGE_H2 a, const RIDGE_H2 b) {                                              \
    return RIDGE_H2(__h##op##_sat(a.x, b.x), __h##op##_sat(a.y, b.y));                                                \
  }
RIDGE_BINARY(add)
RIDGE_BINARY(sub)
RIDGE_BINARY(mul)
#undef RIDGE_BINARY
RIDGE_FN RIDGE_H __hdiv(const RIDGE_H a, const RIDGE_H b) { return RIDGE_MAKE(ridge_simt::RIDGE_F::div(a.__x, b.__x)); }
RIDGE_FN RIDGE_H2 __h2div(const RIDGE_H2 a, const RIDGE_H2 b) {
  return RIDGE_MAKE2(ridge_simt::RIDGE_F::div2(ridge_simt::to_bits(a), ridge_simt::to_bits(b)));
}
RIDGE_FN RIDGE_H __hfma(const RIDGE_H a, const RIDGE_H b, const RIDGE_H c) {
  return RIDGE_MAKE(ridge_simt::RIDGE_F::fma(a.__x, b.__x, c.__x));
}
RIDGE_FN RIDGE_H2 __hfma2(const RIDGE_H2 a, const RIDGE_H2 b, const RIDGE_H2 c) {
  return RIDGE_MAKE2(ridge_simt::RIDGE_F::fma2(ridge_simt::to_bits(a), ridge_simt::to_bits(b), ridge_simt::to_bits(c)));
}
RIDGE_FN RIDGE_H __hfma_sat(const RIDGE_H a, const RIDGE_H b, const RIDGE_H c) {
  return RIDGE_MAKE(ridge_simt::RIDGE_F::saturate(__hfma(a, b, c).__x));
}
RIDGE_FN RIDGE_H __hfma_relu(const RIDGE_H a, const RIDGE_H b, const RIDGE_H c) {
  return RIDGE_MAKE(ridge_simt::RIDGE_F::relu(__hfma(a, b, c).__x));
}
RIDGE_FN RIDGE_H2 __hfma2_sat(const RIDGE_H2 a, const RIDGE_H2 b, const RIDGE_H2 c) {
  return RIDGE_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
RIDGE_FN RIDGE_H2 __hfma2_relu(const RIDGE_H2 a, const RIDGE_H2 b, const RIDGE_H2 c) {
  return RIDGE_H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
// (a.x, a.y) as complex numbers: a * b + c, by four fused operations.
RIDGE_FN RIDGE_H2 __hcmadd(const RIDGE_H2 a, const RIDGE_H2 b, const RIDGE_H2 c) {
  const RIDGE_H minus = RIDGE_MAKE((std::uint16_t)(a.y.__x ^ 0x8000));
  return RIDGE_H2(__hfma(minus, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
RIDGE_FN RIDGE_H __hneg(const RIDGE_H a) { return RIDGE_MAKE((std::uint16_t)(a.__x ^ 0x8000)); }
RIDGE_FN RIDGE_H __habs(const RIDGE_H a) { return RIDGE_MAKE((std::uint16_t)(a.__x & 0x7fff)); }
RIDGE_FN RIDGE_H2 __hneg2(const RIDGE_H2 a) { return RIDGE_H2(__hneg(a.x), __hneg(a.y)); }
RIDGE_FN RIDGE_H2 __habs2(const RIDGE_H2 a) { return RIDGE_H2(__habs(a.x), __habs(a.y)); }

// Smaller and larger: a number rather than NaN, or NaN (_nan); -0 is below +0.
#define RIDGE_EXTREME(name, f, nan)                                                                                 \
  RIDGE_FN RIDGE_H name(const RIDGE_H a, const RIDGE_H b) { return RIDGE_MAKE(ridge_simt::RIDGE_F::f(a.__x, b.__x, nan)); }
#define RIDGE_EXTREME2(name, scalar) \
  RIDGE_FN RIDGE_H2 name(const RIDGE_H2 a, const RIDGE_H2 b) { return RIDGE_H2(scalar(a.x, b.x), scalar(a.y, b.y)); }
RIDGE_EXTREME(__hmin, smaller, false)
RIDGE_EXTREME(__hmax, larger, false)
RIDGE_EXTREME(__hmin_nan, smaller, true)
RIDGE_EXTREME(__hmax_nan, larger, true)
RIDGE_EXTREME2(__hmin2, __hmin)
RIDGE_EXTREME2(__hmax2, __hmax)
RIDGE_EXTREME2(__hmin2_nan, __hmin_nan)
RIDGE_EXTREME2(__hmax2_nan, __hmax_nan)
#undef RIDGE_EXTREME
#undef RIDGE_EXTREME2

// Comparisons. `wanted` has the outcomes of compare() that are true; the u forms include unordered. The two-number forms
// give 1 and 0 (__heq2), all ones and zeros (__heq2_mask), or whether both hold (__hbeq2).
#define RIDGE_COMPARE(op, wanted)                                                                                  \
  RIDGE_FN bool __h##op(const RIDGE_H a, const RIDGE_H b) {                                                        \
    return (ridge_simt::RIDGE_F::compare(a.__x, b.__x) & (wanted)) != 0;                                           \
  }                                                                                                                \
  RIDGE_FN RIDGE_H2 __h##op##2(const RIDGE_H2 a, const RIDGE_H2 b) {                                               \
    return RIDGE_H2(RIDGE_MAKE((std::uint16_t)(__h##op(a.x, b.x) * RIDGE_ONE)),                                    \
                    RIDGE_MAKE((std::uint16_t)(__h##op(a.y, b.y) * RIDGE_ONE)));                                   \
  }                                                                                                                \
  RIDGE_FN unsigned __h##op##2_mask(const RIDGE_H2 a, const RIDGE_H2 b) {                                          \
    return __h##op(a.x, b.x) * 0xffffu | __h##op(a.y, b.y) * 0xffff0000u;                                          \
  }                                                                                                                \
  RIDGE_FN bool __hb##op##2(const RIDGE_H2 a, const RIDGE_H2 b) { return (int)__h##op(a.x, b.x) & (int)__h##op(a.y, b.y); }
RIDGE_COMPARE(eq, 2)
RIDGE_COMPARE(ne, 5)
RIDGE_COMPARE(lt, 1)
RIDGE_COMPARE(le, 3)
RIDGE_COMPARE(gt, 4)
RIDGE_COMPARE(ge, 6)
RIDGE_COMPARE(equ, 10)
RIDGE_COMPARE(neu, 13)
RIDGE_COMPARE(ltu, 9)
RIDGE_COMPARE(leu, 11)
RIDGE_COMPARE(gtu, 12)
RIDGE_COMPARE(geu, 14)
#undef RIDGE_COMPARE
RIDGE_FN bool __hisnan(const RIDGE_H a) { return (ridge_simt::RIDGE_F::compare(a.__x, a.__x) & 8) != 0; }
RIDGE_FN int __hisinf(const RIDGE_H a) {
  const float wide = ridge_simt::RIDGE_F::widen(a.__x);
  return wide == __builtin_inff() ? 1 : wide == -__builtin_inff() ? -1 : 0;
}
RIDGE_FN RIDGE_H2 __hisnan2(const RIDGE_H2 a) { return __hneu2(a, a); }

// Functions: computed in single precision, rounded once more. The GPU's own are within 2 ulp.
#define RIDGE_UNARY(name, expression)                                            \
  RIDGE_FN RIDGE_H h##name(const RIDGE_H a) {                                    \
    const float x = ridge_simt::RIDGE_F::widen(a.__x);                           \
    return RIDGE_MAKE(ridge_simt::RIDGE_F::narrow((float)(expression)));         \
  }                                                                              \
  RIDGE_FN RIDGE_H2 h2##name(const RIDGE_H2 a) { return RIDGE_H2(h##name(a.x), h##name(a.y)); }
RIDGE_UNARY(sqrt, __builtin_sqrtf(x))
RIDGE_UNARY(rsqrt, 1 / __builtin_sqrt((double)x))
RIDGE_UNARY(rcp, 1.0f / x)
RIDGE_UNARY(exp, __builtin_expf(x))
RIDGE_UNARY(exp2, __builtin_exp2f(x))
RIDGE_UNARY(exp10, __builtin_pow(10.0, x))
RIDGE_UNARY(log, __builtin_logf(x))
RIDGE_UNARY(log2, __builtin_log2f(x))
RIDGE_UNARY(log10, __builtin_log10f(x))
RIDGE_UNARY(sin, __builtin_sinf(x))
RIDGE_UNARY(cos, __builtin_cosf(x))
RIDGE_UNARY(tanh, __builtin_tanhf(x))
RIDGE_UNARY(tanh_approx, __builtin_tanhf(x))
RIDGE_UNARY(floor, __builtin_floorf(x))
RIDGE_UNARY(ceil, __builtin_ceilf(x))
RIDGE_UNARY(trunc, __builtin_truncf(x))
RIDGE_UNARY(rint, __builtin_rintf(x))
#undef RIDGE_UNARY

RIDGE_FN RIDGE_H operator+(const RIDGE_H& a, const RIDGE_H& b) { return __hadd(a, b); }
RIDGE_FN RIDGE_H operator-(const RIDGE_H& a, const RIDGE_H& b) { return __hsub(a, b); }
RIDGE_FN RIDGE_H operator*(const RIDGE_H& a, const RIDGE_H& b) { return __hmul(a, b); }
RIDGE_FN RIDGE_H operator/(const RIDGE_H& a, const RIDGE_H& b) { return __hdiv(a, b); }
RIDGE_FN RIDGE_H operator+(const RIDGE_H& a) { return a; }
RIDGE_FN RIDGE_H operator-(const RIDGE_H& a) { return __hneg(a); }
RIDGE_FN bool operator==(const RIDGE_H& a, const RIDGE_H& b) { return __heq(a, b); }
RIDGE_FN bool operator!=(const RIDGE_H& a, const RIDGE_H& b) { return __hneu(a, b); }
RIDGE_FN bool operator<(const RIDGE_H& a, const RIDGE_H& b) { return __hlt(a, b); }
RIDGE_FN bool operator<=(const RIDGE_H& a, const RIDGE_H& b) { return __hle(a, b); }
RIDGE_FN bool operator>(const RIDGE_H& a, const RIDGE_H& b) { return __hgt(a, b); }
RIDGE_FN bool operator>=(const RIDGE_H& a, const RIDGE_H& b) { return __hge(a, b); }
RIDGE_FN RIDGE_H2 operator+(const RIDGE_H2& a, const RIDGE_H2& b) { return __hadd2(a, b); }
RIDGE_FN RIDGE_H2 operator-(const RIDGE_H2& a, const RIDGE_H2& b) { return __hsub2(a, b); }
RIDGE_FN RIDGE_H2 operator*(const RIDGE_H2& a, const RIDGE_H2& b) { return __hmul2(a, b); }
RIDGE_FN RIDGE_H2 operator/(const RIDGE_H2& a, const RIDGE_H2& b) { return __h2div(a, b); }
RIDGE_FN RIDGE_H2 operator+(const RIDGE_H2& a) { return a; }
RIDGE_FN RIDGE_H2 operator-(const RIDGE_H2& a) { return __hneg2(a); }
RIDGE_FN bool operator==(const RIDGE_H2& a, const RIDGE_H2& b) { return __hbeq2(a, b); }
RIDGE_FN bool operator!=(const RIDGE_H2& a, const RIDGE_H2& b) { return __hbneu2(a, b); }
RIDGE_FN bool operator<(const RIDGE_H2& a, const RIDGE_H2& b) { return __hblt2(a, b); }
RIDGE_FN bool operator<=(const RIDGE_H2& a, const RIDGE_H2& b) { return __hble2(a, b); }
RIDGE_FN bool operator>(const RIDGE_H2& a, const RIDGE_H2& b) { return __hbgt2(a, b); }
RIDGE_FN bool operator>=(const RIDGE_H2& a, const RIDGE_H2& b) { return __hbge2(a, b); }
#define RIDGE_ASSIGN(T, op) \
  RIDGE_FN T& operator op##=(T& a, const T& b) { return a = a op b; }
RIDGE_ASSIGN(RIDGE_H, +)
RIDGE_ASSIGN(RIDGE_H, -)
RIDGE_ASSIGN(RIDGE_H, *)
RIDGE_ASSIGN(RIDGE_H, /)
RIDGE_ASSIGN(RIDGE_H2, +)
RIDGE_ASSIGN(RIDGE_H2, -)
RIDGE_ASSIGN(RIDGE_H2, *)
RIDGE_ASSIGN(RIDGE_H2, /)
#undef RIDGE_ASSIGN
#define RIDGE_STEP(T, sign, one)                                \
  RIDGE_FN T& operator sign##sign(T& a) { return a = a sign one; } \
  RIDGE_FN T operator sign##sign(T& a, int) {                   \
    const T old = a;                                            \
    a = a sign one;                                             \
    return old;                                                 \
  }
RIDGE_STEP(RIDGE_H, +, RIDGE_MAKE(RIDGE_ONE))
RIDGE_STEP(RIDGE_H, -, RIDGE_MAKE(RIDGE_ONE))
RIDGE_STEP(RIDGE_H2, +, RIDGE_MAKE2(RIDGE_ONE * 0x10001u))
RIDGE_STEP(RIDGE_H2, -, RIDGE_MAKE2(RIDGE_ONE * 0x10001u))
#undef RIDGE_STEP

// Cached loads and streaming stores: plain ones here.
#define RIDGE_LOAD(name)                                        \
  RIDGE_FN RIDGE_H name(const RIDGE_H* p) { return *p; }        \
  RIDGE_FN RIDGE_H2 name(const RIDGE_H2* p) { return *p; }
#define RIDGE_STORE(name)                                       \
  RIDGE_FN void name(RIDGE_H* p, const RIDGE_H v) { *p = v; }   \
  RIDGE_FN void name(RIDGE_H2* p, const RIDGE_H2 v) { *p = v; }
RIDGE_LOAD(__ldg)
RIDGE_LOAD(__ldcg)
RIDGE_LOAD(__ldca)
RIDGE_LOAD(__ldcs)
RIDGE_LOAD(__ldlu)
RIDGE_LOAD(__ldcv)
RIDGE_STORE(__stwb)
RIDGE_STORE(__stcg)
RIDGE_STORE(__stcs)
RIDGE_STORE(__stwt)
#undef RIDGE_LOAD
#undef RIDGE_STORE

#ifdef RIDGE_SIMT
// Gives the old value. The pair is added as two numbers, by one access of 4 bytes.
RIDGE_FN RIDGE_H atomicAdd(RIDGE_H* const p, const RIDGE_H value) {
  const unsigned ticket = ridge_simt::atomic_access(p, 2, ridge_simt::here());
  const std::uint32_t old = ridge_simt::atomic_add_bits(p, value.__x, 2, RIDGE_IS_BF16);
  return RIDGE_MAKE((std::uint16_t)ridge_simt::atomic_used(old, ticket));
}
RIDGE_FN RIDGE_H2 atomicAdd(RIDGE_H2* const p, const RIDGE_H2 value) {
  const unsigned ticket = ridge_simt::atomic_access(p, 4, ridge_simt::here());
  const std::uint32_t old = ridge_simt::atomic_add_bits(p, ridge_simt::to_bits(value), 4, RIDGE_IS_BF16);
  return RIDGE_MAKE2((std::uint32_t)ridge_simt::atomic_used(old, ticket));
}

#define RIDGE_SHUFFLE(T)                                                                                           \
  RIDGE_FN T __shfl_sync(const unsigned mask, const T v, const int lane, const int width = 32) {                   \
    return ridge_simt::shuffle<T>("__shfl_sync", ridge_simt::Shuffle::index, mask, v, lane, width);                \
  }                                                                                                                \
  RIDGE_FN T __shfl_up_sync(const unsigned mask, const T v, const unsigned delta, const int width = 32) {          \
    return ridge_simt::shuffle<T>("__shfl_up_sync", ridge_simt::Shuffle::up, mask, v, (int)delta, width);          \
  }                                                                                                                \
  RIDGE_FN T __shfl_down_sync(const unsigned mask, const T v, const unsigned delta, const int width = 32) {        \
    return ridge_simt::shuffle<T>("__shfl_down_sync", ridge_simt::Shuffle::down, mask, v, (int)delta, width);      \
  }                                                                                                                \
  RIDGE_FN T __shfl_xor_sync(const unsigned mask, const T v, const int lane_mask, const int width = 32) {          \
    return ridge_simt::shuffle<T>("__shfl_xor_sync", ridge_simt::Shuffle::exclusive, mask, v, lane_mask, width);   \
  }
RIDGE_SHUFFLE(RIDGE_H)
RIDGE_SHUFFLE(RIDGE_H2)
#undef RIDGE_SHUFFLE
#endif

#undef RIDGE_FN
#undef RIDGE_MAKE
#undef RIDGE_MAKE2
