// NCCL's arithmetic: every type and operation against double or exact integers.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "collectives/reduction.hpp"
#include "simt/include/ridge_simt/bits.h"
#include "simt/src/kernel/fp8.hpp"
#include "support/catch.hpp"

using namespace ridge::collectives;
using ridge::simt::E4m3;
using ridge::simt::E5m2;

namespace {

template <class T>
std::vector<T> reduced(std::vector<std::vector<T>> ranks, ncclDataType_t type, ncclRedOp_t op) {
  const int p = static_cast<int>(ranks.size());
  for (auto& r : ranks) before(r.data(), r.size(), type, op, p);
  for (std::size_t r = 1; r < ranks.size(); ++r) reduce(ranks[0].data(), ranks[r].data(), ranks[0].size(), type, op);
  after(ranks[0].data(), ranks[0].size(), type, op, p);
  return ranks[0];
}

}  // namespace

TEST_CASE("types have NCCL's sizes and names") {
  const std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  for (int t = 0; t < ncclNumTypes; ++t) CHECK(bytes_of(static_cast<ncclDataType_t>(t)) == bytes[t]);
  CHECK(bytes_of(ncclNumTypes) == 0);
  CHECK(bytes_of(static_cast<ncclDataType_t>(13)) == 0);
  CHECK(std::string(name_of(ncclBfloat16)) == "ncclBfloat16");
  CHECK(std::string(name_of(ncclFloat8e5m2)) == "ncclFloat8e5m2");
}

TEST_CASE("integers: sums wrap, averages go towards zero") {
  using V = std::vector<std::int32_t>;
  CHECK(reduced<std::int32_t>({{1, -7, 2147483647}, {2, 0, 1}, {4, -1, 0}}, ncclInt32, ncclSum) ==
        V{7, -8, std::numeric_limits<std::int32_t>::min()});
  CHECK(reduced<std::int32_t>({{2, -7, 65536}, {3, 1, 65536}}, ncclInt32, ncclProd) == V{6, -7, 0});
  CHECK(reduced<std::int32_t>({{2, -7}, {3, 1}}, ncclInt32, ncclMax) == V{3, 1});
  CHECK(reduced<std::int32_t>({{2, -7}, {3, 1}}, ncclInt32, ncclMin) == V{2, -7});
  CHECK(reduced<std::int32_t>({{2, -7}, {3, 0}}, ncclInt32, ncclAvg) == V{2, -3});
  CHECK(reduced<std::uint8_t>({{200}, {100}}, ncclUint8, ncclSum) == std::vector<std::uint8_t>{44});
  CHECK(reduced<std::int8_t>({{100}, {100}}, ncclInt8, ncclSum) == std::vector<std::int8_t>{-56});
  CHECK(reduced<std::uint64_t>({{~0ull}, {2}}, ncclUint64, ncclSum) == std::vector<std::uint64_t>{1});
  CHECK(reduced<std::uint64_t>({{~0ull - 1}, {1}}, ncclUint64, ncclMax) == std::vector<std::uint64_t>{~0ull - 1});
  CHECK(reduced<std::int64_t>({{-5}, {3}}, ncclInt64, ncclMin) == std::vector<std::int64_t>{-5});
  CHECK(reduced<std::uint32_t>({{4000000000u}, {1}}, ncclUint32, ncclMax) == std::vector<std::uint32_t>{4000000000u});
}

TEST_CASE("floating types against double") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-2, 2);
  for (int p : {2, 3, 8})
    for (ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      const std::size_t n = 301;
      std::vector<std::vector<double>> wide(static_cast<std::size_t>(p), std::vector<double>(n));
      auto narrow = [&](auto store, auto load, auto zero, ncclDataType_t type, double unit) {
        using T = decltype(zero);
        std::vector<std::vector<T>> given;
        for (auto& r : wide) {
          given.emplace_back();
          for (double& x : r) {
            x = value(random);
            given.back().push_back(store(x));
            x = load(given.back().back());
          }
        }
        const std::vector<T> got = reduced(given, type, op);
        for (std::size_t i = 0; i < n; ++i) {
          double expected = wide[0][i], size = std::fabs(expected);
          for (std::size_t r = 1; r < wide.size(); ++r) {
            const double x = wide[r][i];
            size += std::fabs(x);
            expected = op == ncclProd  ? expected * x
                       : op == ncclMax ? std::max(expected, x)
                       : op == ncclMin ? std::min(expected, x)
                                       : expected + x;
          }
          if (op == ncclAvg) expected /= p, size /= p;
          if (op == ncclProd) size = std::fabs(expected) + 1;
          const double error = std::fabs(load(got[i]) - expected);
          const double allowed = op == ncclMax || op == ncclMin ? 0 : (p + 1) * unit * size;
          if (error > allowed)
            FAIL(name_of(type) << ", op " << op << ", " << p << " ranks: " << error << " > " << allowed);
        }
      };
      auto same = [](auto x) { return x; };
      narrow([](double x) { return static_cast<float>(x); }, same, 0.0f, ncclFloat32, 0x1p-24);
      narrow(same, same, 0.0, ncclFloat64, 0x1p-53);
      using ridge_simt::Bf16;
      using ridge_simt::Fp16;
      narrow([](double x) { return Fp16::narrow(static_cast<float>(x)); },
             [](std::uint16_t x) { return Fp16::widen(x); }, std::uint16_t{}, ncclFloat16, 0x1p-11);
      narrow([](double x) { return Bf16::narrow(static_cast<float>(x)); },
             [](std::uint16_t x) { return Bf16::widen(x); }, std::uint16_t{}, ncclBfloat16, 0x1p-8);
      narrow([](double x) { return E4m3::narrow(static_cast<float>(x)); },
             [](std::uint8_t x) { return E4m3::widen(x); }, std::uint8_t{}, ncclFloat8e4m3, 0x1p-4);
      narrow([](double x) { return E5m2::narrow(static_cast<float>(x)); },
             [](std::uint8_t x) { return E5m2::widen(x); }, std::uint8_t{}, ncclFloat8e5m2, 0x1p-3);
    }
}

TEST_CASE("fp16 is rounded at every step, and its average does not overflow on the way") {
  const std::uint16_t large = ridge_simt::Fp16::narrow(2048.0f), one = ridge_simt::Fp16::narrow(1.0f);
  CHECK(ridge_simt::Fp16::widen(reduced<std::uint16_t>({{large}, {one}, {one}}, ncclFloat16, ncclSum)[0]) == 2048);
  const std::uint16_t top = ridge_simt::Fp16::narrow(60000.0f);
  CHECK(std::isinf(ridge_simt::Fp16::widen(reduced<std::uint16_t>({{top}, {top}}, ncclFloat16, ncclSum)[0])));
  CHECK(ridge_simt::Fp16::widen(reduced<std::uint16_t>({{top}, {top}}, ncclFloat16, ncclAvg)[0]) == 60000);
}

TEST_CASE("an operator with a factor multiplies first") {
  float data[] = {1, 2, -4}, factor = 0.5f;
  multiply(data, &factor, 3, ncclFloat32);
  CHECK(data[0] == 0.5f);
  CHECK(data[2] == -2.0f);
  std::int8_t small[] = {100};
  const std::int8_t three = 3;
  multiply(small, &three, 1, ncclInt8);
  CHECK(small[0] == 44);  // 300 mod 256
}

TEST_CASE("8-bit floats: every value goes there and back, halves go to even") {
  for (int b = 0; b < 256; ++b) {
    const auto bits = static_cast<std::uint8_t>(b);
    const float four = E4m3::widen(bits), five = E5m2::widen(bits);
    if (std::isnan(four))
      CHECK((bits & 0x7f) == 0x7f);
    else
      CHECK(E4m3::narrow(four) == bits);
    if (std::isnan(five))
      CHECK((bits & 0x7f) > 0x7c);
    else if (!std::isinf(five))
      CHECK(E5m2::narrow(five) == bits);
  }
  CHECK(E4m3::widen(0x7e) == 448);
  CHECK(E5m2::widen(0x7b) == 57344);
  CHECK(E4m3::widen(0x01) == 0x1p-9f);
  CHECK(E5m2::widen(0x01) == 0x1p-16f);
  CHECK(E4m3::narrow(1000) == 0x7e);  // saturates
  CHECK(E5m2::narrow(-1e9f) == 0xfb);
  CHECK(E4m3::narrow(17) == E4m3::narrow(16));  // between 16 and 18
  CHECK(E4m3::narrow(19) == E4m3::narrow(20));
  CHECK(E4m3::narrow(0x1p-10f) == 0);
  CHECK(E4m3::narrow(0x1.8p-10f) == 1);
  CHECK(E4m3::narrow(NAN) == 0x7f);
  CHECK(E4m3::narrow(-0.0f) == 0x80);
}
