#include "matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace ridge::lab::science {

namespace {

double uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

// Points of a cube, and how many of a coordinate's neighbours are inside.
struct Point {
  std::int64_t x, y, z;
};
Point point_of(std::size_t row, std::int64_t side) {
  const auto r = static_cast<std::int64_t>(row);
  return {r % side, r / side % side, r / side / side};
}
std::int64_t inside(std::int64_t i, std::int64_t side) {
  return std::min(i + 2, side) - std::max<std::int64_t>(i - 1, 0);
}

std::size_t power_length(std::size_t row, std::int64_t longest) {
  constexpr std::uint64_t kLengths = 18;
  if (random_bits(kLengths, 2 * row) % 8 == 0) return 0;
  const double u = 1 - uniform(kLengths, 2 * row + 1);
  return static_cast<std::size_t>(std::min<double>(static_cast<double>(longest), 3 / u));
}

std::size_t length_of(const Pattern& p, std::size_t row) {
  switch (p.kind) {
    case Kind::cube: {
      const Point at = point_of(row, p.parameter);
      return static_cast<std::size_t>(inside(at.x, p.parameter) * inside(at.y, p.parameter) *
                                      inside(at.z, p.parameter));
    }
    case Kind::power:
      return power_length(row, p.parameter);
    case Kind::both:
      if (row < cube_rows(p)) return length_of({Kind::cube, p.parameter, cube_rows(p)}, row);
      return row == cube_rows(p) + 777 ? 30011 : power_length(row, 1 << 13);
    case Kind::one:
      return row == static_cast<std::size_t>(p.parameter) ? 150001 : row % 3 == 1 ? 1 : 0;
    case Kind::even:
      return static_cast<std::size_t>(p.parameter);
    case Kind::chain:
      return 3 - (row == 0 ? 1u : 0u) - (row + 1 == p.rows ? 1u : 0u);
  }
  throw std::logic_error("no such kind of matrix");
}

}  // namespace

std::size_t cube_rows(const Pattern& p) {
  if (p.kind != Kind::cube && p.kind != Kind::both) return 0;
  return static_cast<std::size_t>(p.parameter * p.parameter * p.parameter);
}

std::vector<std::int32_t> starts_of(const Pattern& p) {
  std::vector<std::int32_t> starts(p.rows + 1);
  for (std::size_t r = 0; r < p.rows; ++r) starts[r + 1] = starts[r] + static_cast<std::int32_t>(length_of(p, r));
  return starts;
}

std::size_t entries_of(const Pattern& p) {
  std::size_t all = 0;
  for (std::size_t r = 0; r < p.rows; ++r) all += length_of(p, r);
  return all;
}

void fill_columns(const Pattern& p, std::span<const std::int32_t> starts, std::span<std::int32_t> columns,
                  std::uint64_t seed) {
  parallel_for(
      p.rows,
      [&](std::size_t from, std::size_t to) {
        for (std::size_t r = from; r < to; ++r) {
          auto k = static_cast<std::size_t>(starts[r]);
          const auto length = static_cast<std::size_t>(starts[r + 1]) - k;
          auto put = [&](std::int64_t column) { columns[k++] = static_cast<std::int32_t>(column); };
          if (r < cube_rows(p)) {
            const std::int64_t side = p.parameter;
            const Point at = point_of(r, side);
            for (std::int64_t z = std::max<std::int64_t>(at.z - 1, 0); z < std::min(at.z + 2, side); ++z)
              for (std::int64_t y = std::max<std::int64_t>(at.y - 1, 0); y < std::min(at.y + 2, side); ++y)
                for (std::int64_t x = std::max<std::int64_t>(at.x - 1, 0); x < std::min(at.x + 2, side); ++x)
                  put((z * side + y) * side + x);
          } else if (p.kind == Kind::chain) {
            for (std::int64_t d = r == 0 ? 0 : -1; d <= (r + 1 == p.rows ? 0 : 1); ++d)
              put(static_cast<std::int64_t>(r) + d);
          } else {
            // Column c with a probability of about 1 / c: few columns are in most rows.
            const auto rows = static_cast<double>(p.rows);
            for (std::size_t i = 0; i < length; ++i) {
              const double v = (static_cast<double>(i) + uniform(seed, k)) / static_cast<double>(length);
              put(std::min<std::int64_t>(static_cast<std::int64_t>(p.rows) - 1,
                                         static_cast<std::int64_t>(std::exp(v * std::log(rows)) - 1)));
            }
          }
        }
      },
      1 << 12);
}

void fill_symmetric(std::span<const std::int32_t> starts, std::span<const std::int32_t> columns,
                    std::span<float> values, double shift, std::uint64_t seed) {
  parallel_for(
      starts.size() - 1,
      [&](std::size_t from, std::size_t to) {
        for (std::size_t r = from; r < to; ++r) {
          std::size_t diagonal = 0;
          double sum = shift;
          for (auto k = static_cast<std::size_t>(starts[r]); k < static_cast<std::size_t>(starts[r + 1]); ++k) {
            const auto column = static_cast<std::size_t>(columns[k]);
            if (column == r) {
              diagonal = k;
              continue;
            }
            const auto c = static_cast<float>(0.5 + uniform(seed, std::min(r, column) << 32 | std::max(r, column)));
            values[k] = -c, sum += c;
          }
          values[diagonal] = static_cast<float>(sum);
        }
      },
      1 << 12);
}

std::array<std::int64_t, 8> sizes_of(const Pattern& p) {
  return {static_cast<std::int64_t>(p.rows), static_cast<std::int64_t>(entries_of(p)),
          static_cast<std::int64_t>(p.kind), p.parameter};
}
Pattern pattern_of(const Case& c) {
  return {static_cast<Kind>(c.size[2]), c.size[3], static_cast<std::size_t>(c.size[0])};
}

}  // namespace ridge::lab::science
