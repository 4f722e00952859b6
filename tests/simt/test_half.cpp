// fp16 and bf16 on the host: every bit pattern, and rounding against a search among all numbers of the format in double
// precision, which shares no code with the library.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

struct Half {
  using Type = __half;
  static constexpr int kFraction = 10, kBias = 15;
  static Type of(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
  static unsigned bits(Type v) { return __half_as_ushort(v); }
  static unsigned from(double v) { return bits(__double2half(v)); }
  static unsigned from(float v) { return bits(__float2half(v)); }
  static unsigned from(float v, int mode) {
    return bits(mode == 0 ? __float2half_rz(v) : mode == 1 ? __float2half_ru(v) : __float2half_rd(v));
  }
};
struct Brain {
  using Type = __nv_bfloat16;
  static constexpr int kFraction = 7, kBias = 127;
  static Type of(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
  static unsigned bits(Type v) { return __bfloat16_as_ushort(v); }
  static unsigned from(double v) { return bits(__double2bfloat16(v)); }
  static unsigned from(float v) { return bits(__float2bfloat16(v)); }
  static unsigned from(float v, int mode) {
    return bits(mode == 0 ? __float2bfloat16_rz(v) : mode == 1 ? __float2bfloat16_ru(v) : __float2bfloat16_rd(v));
  }
};

template <class F>
unsigned infinity() {
  return static_cast<unsigned>(2 * F::kBias + 1) << F::kFraction;
}

// The value of a pattern, infinity as the next power of two.
template <class F>
double value_of(unsigned bits) {
  const int field = static_cast<int>((bits & 0x7fff) >> F::kFraction);
  const unsigned fraction = bits & ((1u << F::kFraction) - 1);
  const double magnitude = field == 0 ? std::ldexp(fraction, 1 - F::kBias - F::kFraction)
                                      : std::ldexp(fraction + (1 << F::kFraction), field - F::kBias - F::kFraction);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// mode: 0 zero, 1 up, 2 down, 3 nearest with ties to even.
template <class F>
unsigned reference(double v, int mode) {
  if (std::isnan(v)) return 0x7fff;
  static const std::vector<double> numbers = [] {
    std::vector<double> all;
    for (unsigned b = 0; b <= infinity<F>(); ++b) all.push_back(value_of<F>(b));
    return all;
  }();
  const bool negative = std::signbit(v);
  const double magnitude = std::fabs(v);
  const unsigned sign = negative ? 0x8000 : 0, most = infinity<F>();
  if (std::isinf(v)) return sign | most;
  auto low = static_cast<unsigned>(std::upper_bound(numbers.begin(), numbers.end(), magnitude) - numbers.begin()) - 1;
  if (numbers[low] == magnitude && low < most) return sign | low;
  const bool away = mode == 1 ? !negative : mode == 2 ? negative : false;
  if (low == most) return sign | (mode == 3 || away ? most : most - 1);
  if (mode != 3) return sign | (away ? low + 1 : low);
  const double middle = (numbers[low] + numbers[low + 1]) / 2;
  return sign | (magnitude > middle || (magnitude == middle && (low & 1)) ? low + 1 : low);
}

template <class F>
bool is_nan(unsigned bits) {
  return (bits & 0x7fff) > infinity<F>();
}

template <class F>
void every_pattern() {
  for (unsigned b = 0; b < 65536; ++b) {
    INFO(b);
    const auto v = F::of(b);
    const float wide = static_cast<float>(v);
    if (is_nan<F>(b)) {
      REQUIRE(std::isnan(wide));
      REQUIRE(F::from(wide) == 0x7fff);
      continue;
    }
    if ((b & 0x7fff) == infinity<F>())
      REQUIRE(wide == (b & 0x8000 ? -1 : 1) * std::numeric_limits<float>::infinity());
    else
      REQUIRE(static_cast<double>(wide) == value_of<F>(b));
    REQUIRE(std::signbit(wide) == ((b & 0x8000) != 0));
    REQUIRE(F::from(wide) == b);
    REQUIRE(F::from(static_cast<double>(wide)) == b);
    for (int mode : {0, 1, 2}) REQUIRE(F::from(wide, mode) == b);
    // The middle to the next number, and its neighbours among floats.
    if ((b & 0x7fff) >= infinity<F>()) continue;
    const auto middle = static_cast<float>((value_of<F>(b) + value_of<F>(b + 1)) / 2);
    for (float x : {std::nextafter(middle, -INFINITY), middle, std::nextafter(middle, INFINITY)}) {
      REQUIRE(F::from(x) == reference<F>(x, 3));
      for (int mode : {0, 1, 2}) REQUIRE(F::from(x, mode) == reference<F>(x, mode));
    }
    const double exact = (value_of<F>(b) + value_of<F>(b + 1)) / 2;
    for (double x : {std::nextafter(exact, -INFINITY), exact, std::nextafter(exact, INFINITY)})
      REQUIRE(F::from(x) == reference<F>(x, 3));
  }
}

template <class F>
void arithmetic() {
  std::mt19937 engine(5);
  auto random = [&] { return static_cast<unsigned>(engine()); };
  auto agrees = [](unsigned got, double exact) {
    const unsigned wanted = reference<F>(exact, 3);
    return got == wanted || (exact == 0 && (got & 0x7fff) == 0);
  };
  for (int round = 0; round < 300000; ++round) {
    unsigned p = random() & 0xffff, q = random() & 0xffff;
    if (round % 2) q = (q & 0x83ff) | (p & 0x7c00);  // exponents alike
    const auto a = F::of(p), b = F::of(q);
    const double x = static_cast<float>(a), y = static_cast<float>(b);
    INFO(p << " " << q);
    // Exact in double precision, or (bf16, far apart) not near a middle.
    REQUIRE(agrees(F::bits(a + b), x + y));
    REQUIRE(agrees(F::bits(a - b), x - y));
    REQUIRE(agrees(F::bits(a * b), x * y));
    REQUIRE(agrees(F::bits(a / b), x / y));
    REQUIRE((a < b) == (x < y));
    REQUIRE((a == b) == (x == y));
    REQUIRE((a != b) == (x != y));
  }
}

// long double has 64 bits on x86: enough for a * b + c of 11-bit numbers, and of bf16 where exponents are near.
template <class F>
void fused() {
  std::mt19937 engine(6);
  auto random = [&] { return static_cast<unsigned>(engine()); };
  for (int round = 0; round < 200000; ++round) {
    auto draw = [&](unsigned exponent_spread) {
      const unsigned field = static_cast<unsigned>(F::kBias) - exponent_spread / 2 + random() % exponent_spread;
      return (random() & 0x8000u) | field << F::kFraction | (random() & ((1u << F::kFraction) - 1));
    };
    const unsigned p = draw(8), q = draw(8), r = draw(16);
    const double x = value_of<F>(p), y = value_of<F>(q), z = value_of<F>(r);
    const unsigned got = F::bits(__hfma(F::of(p), F::of(q), F::of(r)));
    const double exact = x * y + z;  // 22 bits and 11, exponents within 16: exact
    INFO(p << " " << q << " " << r);
    REQUIRE((got == reference<F>(exact, 3) || (exact == 0 && (got & 0x7fff) == 0)));
  }
}

}  // namespace

TEST_CASE("every fp16 pattern converts, and every middle rounds, in all modes") { every_pattern<Half>(); }
TEST_CASE("every bf16 pattern converts, and every middle rounds, in all modes") { every_pattern<Brain>(); }
TEST_CASE("fp16 arithmetic is rounded once") { arithmetic<Half>(); }
TEST_CASE("bf16 arithmetic is rounded once") { arithmetic<Brain>(); }
TEST_CASE("fused multiply-adds are rounded once") {
  fused<Half>();
  fused<Brain>();
  // c decides a tie, however small: a double cannot hold the sum.
  const __nv_bfloat16 a = 1.0625f, tiny = 1e-30f;
  CHECK(__bfloat16_as_ushort(__hfma(a, a, tiny)) == 0x3f91);
  CHECK(__bfloat16_as_ushort(__hfma(a, a, -tiny)) == 0x3f90);
}

TEST_CASE("integers convert in one rounding, and saturate on the way back") {
  CHECK(__half_as_ushort(__int2half_rn(2049)) == 0x6800);
  CHECK(__half_as_ushort(__int2half_ru(2049)) == 0x6801);
  CHECK(__half_as_ushort(__int2half_rz(100000)) == 0x7bff);
  CHECK(__bfloat16_as_ushort(__ull2bfloat16_rn(0x8080000000000001ull)) == 0x5f01);
  CHECK(__half2int_rn(__half(2.5f)) == 2);
  CHECK(__half2int_ru(__half(-2.5f)) == -2);
  CHECK(__half2short_rz(__half(65504.0f)) == 32767);
  CHECK(__half2uint_rz(__half(-1.0f)) == 0);
  CHECK(__half2int_rz(__ushort_as_half(0x7fff)) == 0);
  CHECK(__half2ll_rz(__ushort_as_half(0x7fff)) == INT64_MIN);
}

TEST_CASE("pairs do what two numbers do") {
  const __half2 p = __floats2half2_rn(1.5f, -3.0f), q = __float2half2_rn(2.0f);
  const __half2 r = __hfma2(p, q, p);
  CHECK(__low2float(r) == 4.5f);
  CHECK(__high2float(r) == -9.0f);
  CHECK(__hlt2_mask(p, q) == 0xffffffffu);
  CHECK(__hbeq2(p, p));
  CHECK(!__hbgt2(p, q));
  CHECK(__half_as_ushort(__hmax(__ushort_as_half(0x8000), __ushort_as_half(0))) == 0);
  CHECK(__hisnan(__hmax_nan(__ushort_as_half(0x7e00), __half(1.0f))));
  CHECK(static_cast<float>(__hmax(__ushort_as_half(0x7e00), __half(1.0f))) == 1.0f);
}
