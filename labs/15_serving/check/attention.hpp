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

inline constexpr Bf16 kNan{0x7FC0};

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

// Rows of o that are compared: all, or where a share is compared (checks/share.hpp) and a row costs much, one of each
// stretch, drawn once the program has answered. `cost`: multiplications of a row.
std::vector<std::size_t> rows_to_compare(std::size_t rows, double cost);

// Compares o (batch, heads, d); tokens(b, h) of sequence b and KV head h, `length` at most.
template <class Of>
Verdict compare_out(std::span<const Bf16> q, std::span<const Bf16> o, const Sizes& s, std::size_t length, Of tokens) {
  const std::vector<std::size_t> rows = rows_to_compare(s.rows(), static_cast<double>(length * s.d));
  return compare_parts<CloseTally>(
      rows.size() * s.d, rows.size(), std::max<std::size_t>(1, (1 << 18) / (length * s.d)),
      [&](std::size_t from, std::size_t to, CloseTally& tally) {
        std::vector<Expected> expected(s.d);
        Tokens all{};
        for (std::size_t i = from, known = ~std::size_t{0}; i < to; ++i) {
          const std::size_t row = rows[i], item = row / s.group();
          if (item != known) all = tokens(item / s.kv_heads, item % s.kv_heads);
          known = item;
          expected_row(q.data() + row * s.d, all, s, expected.data());
          for (std::size_t c = 0; c < s.d; ++c) tally.add(i * s.d + c, double{o[row * s.d + c]}, expected[c]);
        }
      },
      [&](std::size_t i) {
        const std::size_t row = rows[i / s.d];
        return fmt::format("o[sequence {}][head {}][{}]", row / s.heads, row % s.heads, i % s.d);
      },
      Extent::share);
}

// KV sectors once; for each 64 tokens, q and a partial result of every head.
double load_sectors(const Sizes& s, std::span<const std::size_t> lengths);

}  // namespace ridge::lab::serving
