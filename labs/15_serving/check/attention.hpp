// Attention of one query in double precision, wherever its keys and values lie, and how far honest answers are from it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/variants.hpp"

namespace ridge::lab::serving {

struct Bf16 {
  std::uint16_t bits;
  float as_float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  operator double() const { return as_float(); }
};
inline Bf16 rounded(float x) {  // to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
inline constexpr Bf16 kNan{0x7FC0};

// N(0, 1), rounded to bf16.
void fill_bf16(std::span<Bf16> to, std::uint64_t seed);

struct Sizes {
  std::size_t batch, heads, kv_heads, d;
  std::size_t group() const { return heads / kv_heads; }
  std::size_t rows() const { return batch * heads; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(d)); }
  // Sectors of a row of q, k, v or o; of a partial result of one head.
  double row() const { return static_cast<double>(d * 2) / 32; }
  double part() const { return static_cast<double>((d + 1) * 4) / 32; }
};

// The tokens of a sequence, for one KV head: k(j), v(j) are rows of d elements.
struct Tokens {
  std::size_t length;
  std::vector<const Bf16*> k, v;
};

// The d elements of o.
void expected_row(const Bf16* q, const Tokens& tokens, const Sizes& s, Expected* e);

// Compares o (batch, heads, d); tokens(b, h) of sequence b and KV head h.
template <class Of>
Verdict compare_out(std::span<const Bf16> q, std::span<const Bf16> o, const Sizes& s, Of tokens) {
  const std::size_t items = s.batch * s.kv_heads, group = s.group();
  return compare_parts<CloseTally>(
      s.rows() * s.d, items, 1,
      [&](std::size_t from, std::size_t to, CloseTally& tally) {
        std::vector<Expected> expected(s.d);
        for (std::size_t item = from; item < to; ++item) {
          const Tokens all = tokens(item / s.kv_heads, item % s.kv_heads);
          for (std::size_t row = item * group; row < (item + 1) * group; ++row) {
            expected_row(q.data() + row * s.d, all, s, expected.data());
            for (std::size_t c = 0; c < s.d; ++c) tally.add(row * s.d + c, double{o[row * s.d + c]}, expected[c]);
          }
        }
      },
      [&](std::size_t i) {
        return fmt::format("o[sequence {}][head {}][{}]", i / s.d / s.heads, i / s.d % s.heads, i % s.d);
      },
      Extent::share);
}

// KV sectors once; for each 64 tokens, q and a partial result of every head.
double load_sectors(const Sizes& s, std::span<const std::size_t> lengths);

}  // namespace ridge::lab::serving
