// Tolerances let every honest sum through, in any order, and no dishonest one: over many random cases and lengths.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "checks/compare.hpp"
#include "checks/propagation.hpp"
#include "checks/tolerance.hpp"
#include "runtime/sums.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;
using namespace ridge::test;

namespace {

enum class Data { uniform, normal, lognormal, positive };

struct Dots {
  std::vector<Terms> a, b;
  std::vector<Expected> exact;
};

// `count` dot products of one length.
Dots make(Data data, std::size_t length, std::size_t count, std::uint64_t seed) {
  Dots d;
  for (std::size_t i = 0; i < count; ++i) {
    for (auto* side : {&d.a, &d.b}) {
      Terms& v = side->emplace_back(length);
      const std::uint64_t s = random_bits(seed, 2 * i + (side == &d.b));
      if (data == Data::uniform) fill_uniform(v, s);
      if (data == Data::normal) fill_normal(v, s);
      if (data == Data::lognormal) fill_lognormal(v, s, 2);
      if (data == Data::positive) {
        fill_uniform(v, s);
        for (float& x : v) x = std::fabs(x);
      }
    }
    Reduction r;
    for (std::size_t k = 0; k < length; ++k) r.add(double{d.a[i][k]} * double{d.b[i][k]});
    d.exact.push_back(Tolerance{}.of(r));
  }
  return d;
}

Verdict judge(const Dots& d, const Way& way, std::uint64_t seed) {
  std::vector<float> got;
  for (std::size_t i = 0; i < d.a.size(); ++i) got.push_back(way.sum(d.a[i], d.b[i], seed + i));
  return compare_close<float>(
      got, [&](std::size_t i) { return d.exact[i]; }, [](std::size_t i) { return "dot " + std::to_string(i); });
}

// How many dot products of each length: enough for thousands of comparisons, and few seconds.
std::size_t count_for(std::size_t length) {
  return std::max<std::size_t>(16, std::min<std::size_t>(400, 60000 / length));
}

const std::size_t kLengths[] = {1, 2, 3, 7, 31, 100, 257, 1000, 4099, 20011, 100003};

}  // namespace

TEST_CASE("honest sums pass in any order, for any data") {
  std::size_t failed = 0, sums = 0;
  std::string first;
  for (Data data : {Data::uniform, Data::normal, Data::lognormal, Data::positive})
    for (std::size_t length : kLengths)
      for (std::uint64_t seed = 1; seed <= (length < 5000 ? 4 : 1); ++seed) {
        Dots d = make(data, length, count_for(length), seed);
        for (const Way& way : honest_ways()) {
          Verdict v = judge(d, way, seed);
          sums += d.a.size();
          failed += !v.ok;
          if (!v.ok && first.empty())
            first = way.name + ", length " + std::to_string(length) + ", data " +
                    std::to_string(static_cast<int>(data)) + ": " + v.message;
        }
      }
  INFO(first);
  CHECK(failed == 0);
  CHECK(sums > 100'000);
}

TEST_CASE("dishonest sums fail at every length") {
  for (Data data : {Data::uniform, Data::normal})
    for (std::size_t length : kLengths) {
      Dots d = make(data, length, count_for(length), 5);
      for (const Way& way : dishonest_ways()) {
        INFO(way.name << ", length " << length << ", data " << static_cast<int>(data));
        CHECK(!judge(d, way, 9).ok);
      }
    }
}

TEST_CASE("sums of a million terms") {
  Dots d = make(Data::uniform, 1'000'000, 16, 3);
  for (const Way& way : honest_ways()) {
    Verdict v = judge(d, way, 1);
    INFO(way.name << ": " << v.message);
    CHECK(v.ok);
  }
  for (const Way& way : dishonest_ways()) {
    INFO(way.name);
    CHECK(!judge(d, way, 1).ok);
  }
}

TEST_CASE("a precision that is allowed passes, and the next lower one fails") {
  for (std::size_t length : {1, 33, 1000, 10007}) {
    Dots d = make(Data::uniform, length, 200, 8);
    for (std::size_t i = 0; i < d.a.size(); ++i) {
      Reduction r;
      for (std::size_t k = 0; k < length; ++k) r.add(double{d.a[i][k]} * double{d.b[i][k]});
      Tolerance t;
      t.input = kTf32;
      d.exact[i] = t.of(r);
    }
    INFO(length);
    for (const Way& way : honest_ways()) CHECK(judge(d, way, 1).ok);
    CHECK(judge(d, {"", [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(11, a, b); }}, 1).ok);
    CHECK(!judge(d, {"", [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(8, a, b); }}, 1).ok);
  }
}

TEST_CASE("an accumulator that chops, as tensor cores' does, passes where it is allowed and only there") {
  auto chopping = [](const Terms& a, const Terms& b, std::uint64_t) {
    float s = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double exact = double{s} + double{a[i]} * double{b[i]};
      const auto near = static_cast<float>(exact);
      s = std::fabs(near) > std::fabs(exact) ? std::nextafterf(near, 0) : near;
    }
    return s;
  };
  for (Data data : {Data::uniform, Data::positive})
    for (std::size_t length : {1, 33, 1000, 10007}) {
      Dots d = make(data, length, 200, 8);
      INFO(length << ", data " << static_cast<int>(data));
      if (length >= 1000) CHECK(!judge(d, {"", chopping}, 1).ok);
      for (std::size_t i = 0; i < d.a.size(); ++i) {
        Reduction r;
        for (std::size_t k = 0; k < length; ++k) r.add(double{d.a[i][k]} * double{d.b[i][k]});
        d.exact[i] = Tolerance{kTensorFp32}.of(r);
      }
      CHECK(judge(d, {"", chopping}, 1).ok);
      for (const Way& way : honest_ways()) CHECK(judge(d, way, 1).ok);
      if (data == Data::uniform && length > 1 && length < 5000)  // beyond, chopping is as bad
        CHECK(!judge(d, {"", [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(11, a, b); }}, 1)
                   .ok);
    }
}

TEST_CASE("what no single element shows, the norms show") {
  // Inputs with 18 bits: each error is well inside the tolerance of a long sum.
  Dots d = make(Data::uniform, 2000, 1000, 4);
  auto poor = [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(18, a, b); };
  Verdict v = judge(d, {"", poor}, 1);
  CHECK(!v.ok);
  CHECK(v.message.find("larger than rounding explains") != std::string::npos);
}

TEST_CASE("a result whose bits are cut off is told from one of a lower precision") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(-1, 1);
  CloseTally tally(3001);
  for (std::size_t i = 0; i < 3001; ++i) {
    const double x = draw(random);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) & 0xffff0000u;
    tally.add(i, std::bit_cast<float>(bits), {x, std::fabs(x) * 0x1p-8 / std::sqrt(3.0), std::fabs(x) * 0x1p-7});
  }
  CHECK(!tally.ok());
  CHECK(tally.message([](std::size_t i) { return std::to_string(i); }).find("errors point towards zero") !=
        std::string::npos);
}

TEST_CASE("one element of many that is a little off is seen by its own tolerance") {
  Dots d = make(Data::uniform, 100, 20'000, 4);
  auto one = [](const Terms& a, const Terms& b, std::uint64_t i) {
    return i == 7 ? with_inputs_of(15, a, b) : forward(a, b);
  };
  Verdict v = judge(d, {"", one}, 0);
  CHECK(!v.ok);
  CHECK(v.message.find("dot 7 ") != std::string::npos);
  CHECK(v.message.find("1 of 20000 are wrong") != std::string::npos);
}

TEST_CASE("the tolerance never exceeds the deterministic bound and scales with the terms") {
  Reduction r;
  for (int i = 0; i < 10; ++i) r.add(i % 2 == 0 ? 1000.5 : -1000.25);
  Expected e = Tolerance{}.of(r), f;
  CHECK(e.worst == Approx(11 * kFp32.unit() * r.magnitude).epsilon(1e-5));
  CHECK(e.deviation < e.worst);
  Reduction big;
  for (int i = 0; i < 10; ++i) big.add(i % 2 == 0 ? 2001 : -2000.5);
  f = Tolerance{}.of(big);
  CHECK(f.deviation == Approx(2 * e.deviation));
  CHECK(Tolerance{kFp16, kFp64, kFp16}.of(r).deviation > 1000 * e.deviation);
  CHECK(std::isinf(Tolerance{kBf16, kFp64, kBf16}
                       .of([] {
                         Reduction many;
                         many.add(1);
                         many.length = 1000;
                         return many;
                       }())
                       .worst));  // gamma is no bound there
}

TEST_CASE("errors are handed on from step to step: two products, and a lower precision in between") {
  constexpr std::size_t kIn = 70, kHidden = 90, kOut = 400;
  std::vector<float> x(kIn), a(kHidden * kIn), b(kOut * kHidden), bias(kHidden);
  fill_normal(x, 1), fill_normal(a, 2), fill_normal(b, 3), fill_normal(bias, 4);
  Reals hidden(kHidden);
  for (std::size_t h = 0; h < kHidden; ++h) {
    RealSum s;
    for (std::size_t i = 0; i < kIn; ++i) s.add(x[i], 0, a[h * kIn + i], 0);
    hidden.set(h, plus(s.done(), bias[h]));
  }
  auto exact = [&](std::size_t o) {
    RealSum s;
    for (std::size_t h = 0; h < kHidden; ++h) s.add(hidden[h], {b[o * kHidden + h]});
    return expected(s.done());
  };
  // `bits`: of the significand that a hidden number keeps.
  auto judge = [&](int bits) {
    std::vector<float> kept(kHidden), got(kOut);
    for (std::size_t h = 0; h < kHidden; ++h) {
      float sum = 0;
      for (std::size_t i = 0; i < kIn; ++i) sum += x[i] * a[h * kIn + i];
      sum += bias[h];
      int exponent = 0;
      const float mantissa = std::frexp(sum, &exponent);
      kept[h] = std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
    }
    for (std::size_t o = 0; o < kOut; ++o) {
      float sum = 0;
      for (std::size_t h = 0; h < kHidden; ++h) sum += kept[h] * b[o * kHidden + h];
      got[o] = sum;
    }
    return compare_close<float>(got, exact, [](std::size_t i) { return std::to_string(i); });
  };
  CHECK(judge(24).ok);
  for (int bits : {8, 11, 15}) {
    INFO(bits);
    const Verdict v = judge(bits);
    CHECK_FALSE(v.ok);
    CHECK(v.message.find("lower precision") != std::string::npos);
  }
}

TEST_CASE("propagation: what a term inherits, and what a rounding adds") {
  const double unit = kFp32.unit();
  const Real rounded = plus({3, 1e-12, 7}, 5);
  CHECK(rounded.value == 8);
  CHECK(rounded.variance == Approx(1e-12 + 64 * unit * unit));
  CHECK(rounded.magnitude == 7);
  RealSum exact, inherited;
  exact.add(2, 0, 3, 0), exact.add(4, 0, 5, 0);
  inherited.add(2, 1e-6, 3, 0), inherited.add(4, 0, 5, 1e-7);
  CHECK(inherited.done().value == 26);
  CHECK(inherited.done().variance - exact.done().variance == Approx(1e-6 * 9 + 16 * 1e-7));
}
