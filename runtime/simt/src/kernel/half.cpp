// Arithmetic of the 16-bit formats. Sums, products and quotients of two numbers are computed in single precision and
// rounded again: with 24 >= 2 p + 2 bits (p = 11, 8) that equals rounding once (S. Figueroa, "When is double rounding
// innocuous?", 1995). A fused multiply-add is not covered by that; it is rounded to odd in double precision first.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernel/warp_operations.hpp"
#include "ridge_simt/bits.h"

namespace ridge_simt {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Format parameters: precision with the hidden bit, exponent of the last place of subnormals, bits of infinity.
struct Half {
  static constexpr int kPrecision = 11, kLowest = -24;
  static constexpr u32 kInfinity = 0x7c00;
};
struct Brain {
  static constexpr int kPrecision = 8, kLowest = -133;
  static constexpr u32 kInfinity = 0x7f80;
};

// magnitude * 2^exponent, rounded once.
template <class F>
u16 encode(bool negative, u64 magnitude, int exponent, Round mode) {
  const u32 sign = negative ? 0x8000 : 0;
  if (magnitude == 0) return static_cast<u16>(sign);
  const int top = 63 - std::countl_zero(magnitude) + exponent;
  const int last = std::max(top - (F::kPrecision - 1), F::kLowest);
  const int drop = last - exponent;
  u64 kept;
  bool half = false, rest = false;
  if (drop <= 0) {
    kept = magnitude << -drop;
  } else if (drop > 64) {
    kept = 0;
    rest = true;
  } else {
    kept = drop == 64 ? 0 : magnitude >> drop;
    half = (magnitude >> (drop - 1)) & 1;
    rest = (magnitude & ((u64{1} << (drop - 1)) - 1)) != 0;
  }
  switch (mode) {
    case Round::nearest:
      kept += half && (rest || (kept & 1));
      break;
    case Round::zero:
      break;
    case Round::up:
      kept += !negative && (half || rest);
      break;
    case Round::down:
      kept += negative && (half || rest);
      break;
  }
  // The hidden bit adds one to the exponent field, and a carry one more.
  u64 bits = (static_cast<u64>(last - F::kLowest) << (F::kPrecision - 1)) + kept;
  if (bits >= F::kInfinity) {
    const bool infinite =
        mode == Round::nearest || (mode == Round::up && !negative) || (mode == Round::down && negative);
    bits = infinite ? F::kInfinity : F::kInfinity - 1;
  }
  return static_cast<u16>(sign | bits);
}

template <class F>
u16 encode(double value, Round mode) {
  const u64 bits = std::bit_cast<u64>(value);
  const bool negative = bits >> 63;
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const u64 fraction = bits & ((u64{1} << 52) - 1);
  if (field == 0x7ff) return fraction != 0 ? 0x7fff : static_cast<u16>((negative ? 0x8000 : 0) | F::kInfinity);
  if (field == 0) return encode<F>(negative, fraction, -1074, mode);
  return encode<F>(negative, fraction | u64{1} << 52, field - 1075, mode);
}

float widen_half(u16 h) {
  const u32 sign = static_cast<u32>(h & 0x8000) << 16, rest = static_cast<u32>(h & 0x7fff) << 13;
  const u32 field = h & 0x7c00;
  if (field == 0x7c00) return std::bit_cast<float>(sign | rest | 0x7f800000u);
  if (field != 0) return std::bit_cast<float>(sign | (rest + (112u << 23)));
  // Subnormal: 2^-14 with the fraction, less 2^-14.
  const float magnitude = std::bit_cast<float>(rest | (113u << 23)) - std::bit_cast<float>(113u << 23);
  return std::bit_cast<float>(sign | std::bit_cast<u32>(magnitude));
}

u16 narrow_half(float value) {
  u32 bits = std::bit_cast<u32>(value);
  const u32 sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return 0x7fff;
  if (bits >= 0x47800000) return static_cast<u16>(sign | 0x7c00);  // 65536 and above
  if (bits >= 0x38800000) return static_cast<u16>(sign | ((bits - 0x38000000 + 0xfff + ((bits >> 13) & 1)) >> 13));
  // Subnormal result: adding 0.5 puts the last place of the format at the last place of the float.
  const float shifted = std::bit_cast<float>(bits) + 0.5f;
  return static_cast<u16>(sign | (std::bit_cast<u32>(shifted) - 0x3f000000));
}

float widen_brain(u16 b) { return std::bit_cast<float>(static_cast<u32>(b) << 16); }

u16 narrow_brain(float value) {
  const u32 bits = std::bit_cast<u32>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

u16 narrow_brain(double value) { return encode<Brain>(value, Round::nearest); }

// p + c rounded to odd: where the sum is not exact, its last bit is set. A later rounding to fewer bits is then right.
double add_to_odd(double p, double c) {
  const double sum = p + c;
  if (!std::isfinite(sum)) return sum;
  const double from_c = sum - p;
  const double error = (p - (sum - from_c)) + (c - from_c);
  u64 bits = std::bit_cast<u64>(sum);
  if (error == 0 || (bits & 1)) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}

template <class Op>
u32 twice(u32 a, u32 b, Op op) {
  return op(static_cast<u16>(a), static_cast<u16>(b)) |
         static_cast<u32>(op(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))) << 16;
}

bool is_nan(u16 a, u32 infinity) { return (a & 0x7fffu) > infinity; }
// Order of numbers as integers; -0 is below +0.
int rank(u16 a) { return (a & 0x8000) ? -1 - (a & 0x7fff) : a; }

double rounded(double value, Round mode) {
  switch (mode) {
    case Round::nearest:
      return std::nearbyint(value);
    case Round::zero:
      return std::trunc(value);
    case Round::up:
      return std::ceil(value);
    case Round::down:
      return std::floor(value);
  }
  return value;
}

}  // namespace

#define RIDGE_DEFINE_FORMAT(F, P, wide, narrowed, W)                                                              \
  float F::widen(u16 bits) { return wide(bits); }                                                                 \
  u16 F::narrow(float value) { return narrowed(value); }                                                          \
  u16 F::narrow(double value, Round mode) { return encode<P>(value, mode); }                                      \
  u16 F::narrow(long long value, Round mode) {                                                                    \
    const u64 magnitude = value < 0 ? 0 - static_cast<u64>(value) : static_cast<u64>(value);                      \
    return encode<P>(value < 0, magnitude, 0, mode);                                                              \
  }                                                                                                               \
  u16 F::narrow(unsigned long long value, Round mode) { return encode<P>(false, value, 0, mode); }                \
  u16 F::add(u16 a, u16 b) { return narrowed(wide(a) + wide(b)); }                                                \
  u16 F::sub(u16 a, u16 b) { return narrowed(wide(a) - wide(b)); }                                                \
  u16 F::mul(u16 a, u16 b) { return narrowed(static_cast<W>(wide(a)) * wide(b)); }                                \
  u16 F::div(u16 a, u16 b) { return narrowed(static_cast<W>(wide(a)) / wide(b)); }                                \
  u16 F::fma(u16 a, u16 b, u16 c) {                                                                               \
    return encode<P>(add_to_odd(static_cast<double>(wide(a)) * wide(b), wide(c)), Round::nearest);                \
  }                                                                                                               \
  u32 F::add2(u32 a, u32 b) {                                                                                     \
    return twice(a, b, [](u16 x, u16 y) { return add(x, y); });                                                   \
  }                                                                                                               \
  u32 F::sub2(u32 a, u32 b) {                                                                                     \
    return twice(a, b, [](u16 x, u16 y) { return sub(x, y); });                                                   \
  }                                                                                                               \
  u32 F::mul2(u32 a, u32 b) {                                                                                     \
    return twice(a, b, [](u16 x, u16 y) { return mul(x, y); });                                                   \
  }                                                                                                               \
  u32 F::div2(u32 a, u32 b) {                                                                                     \
    return twice(a, b, [](u16 x, u16 y) { return div(x, y); });                                                   \
  }                                                                                                               \
  u32 F::fma2(u32 a, u32 b, u32 c) {                                                                              \
    return fma(static_cast<u16>(a), static_cast<u16>(b), static_cast<u16>(c)) |                                   \
           static_cast<u32>(fma(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16), static_cast<u16>(c >> 16))) \
               << 16;                                                                                             \
  }                                                                                                               \
  u16 F::saturate(u16 a) {                                                                                        \
    const float x = wide(a);                                                                                      \
    return !(x > 0) ? 0 : x > 1 ? narrowed(1.0f) : a;                                                             \
  }                                                                                                               \
  u16 F::relu(u16 a) { return is_nan(a, P::kInfinity) ? 0x7fff : (a & 0x8000) ? 0 : a; }                          \
  u16 F::smaller(u16 a, u16 b, bool nan) {                                                                        \
    const bool a_nan = is_nan(a, P::kInfinity), b_nan = is_nan(b, P::kInfinity);                                  \
    if (a_nan || b_nan) return nan || (a_nan && b_nan) ? 0x7fff : a_nan ? b : a;                                  \
    return rank(b) < rank(a) ? b : a;                                                                             \
  }                                                                                                               \
  u16 F::larger(u16 a, u16 b, bool nan) {                                                                         \
    const bool a_nan = is_nan(a, P::kInfinity), b_nan = is_nan(b, P::kInfinity);                                  \
    if (a_nan || b_nan) return nan || (a_nan && b_nan) ? 0x7fff : a_nan ? b : a;                                  \
    return rank(a) < rank(b) ? b : a;                                                                             \
  }                                                                                                               \
  unsigned F::compare(u16 a, u16 b) {                                                                             \
    const float x = wide(a), y = wide(b);                                                                         \
    return x < y ? 1 : x == y ? 2 : x > y ? 4 : 8;                                                                \
  }

// Products of bf16 have exponents below those of normal floats, so mul and div go through doubles.
RIDGE_DEFINE_FORMAT(Fp16, Half, widen_half, narrow_half, float)
RIDGE_DEFINE_FORMAT(Bf16, Brain, widen_brain, narrow_brain, double)
#undef RIDGE_DEFINE_FORMAT

long long to_signed(double value, Round mode, int bits, long long nan) {
  if (std::isnan(value)) return nan;
  const double r = rounded(value, mode), end = std::ldexp(1.0, bits - 1);
  if (r >= end) return static_cast<long long>((u64{1} << (bits - 1)) - 1);
  if (r < -end) return static_cast<long long>(~u64{0} << (bits - 1));
  return static_cast<long long>(r);
}

unsigned long long to_unsigned(double value, Round mode, int bits, unsigned long long nan) {
  if (std::isnan(value)) return nan;
  const double r = rounded(value, mode);
  if (r >= std::ldexp(1.0, bits)) return ~u64{0} >> (64 - bits);
  return r <= 0 ? 0 : static_cast<unsigned long long>(r);
}

u32 atomic_add_bits(void* p, u32 value, unsigned bytes, bool bf16) {
  if (bytes != 2 && bytes != 4) misuse(-1, "atomicAdd of half precision", "2 or 4 bytes", 1);
  library_atomic(p, bytes, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
  if (bytes == 2) {
    auto* cell = static_cast<u16*>(p);
    u16 old = __atomic_load_n(cell, __ATOMIC_RELAXED), sum;
    do {
      sum = bf16 ? Bf16::add(old, static_cast<u16>(value)) : Fp16::add(old, static_cast<u16>(value));
    } while (!__atomic_compare_exchange_n(cell, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
  }
  auto* cell = static_cast<u32*>(p);
  u32 old = __atomic_load_n(cell, __ATOMIC_RELAXED), sum;
  do {
    sum = bf16 ? Bf16::add2(old, value) : Fp16::add2(old, value);
  } while (!__atomic_compare_exchange_n(cell, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace ridge_simt
