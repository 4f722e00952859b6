#include "matrices.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <unordered_set>

namespace ridge::lab::science {

namespace {

constexpr std::size_t kReplaced = 256;  // one connection of a cube in so many
constexpr std::size_t kLongRow = 30011;

double uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

// A point of a cube.
struct Point {
  std::int64_t x, y, z;
};
Point point_of(std::size_t row, std::int64_t side) {
  const auto r = static_cast<std::int64_t>(row);
  return {r % side, r / side % side, r / side / side};
}
// How many of a coordinate and its two neighbours are inside.
std::int64_t inside(std::int64_t i, std::int64_t side) {
  return std::min(i + 2, side) - std::max<std::int64_t>(i - 1, 0);
}
std::size_t neighbours(std::size_t row, std::int64_t side) {
  const Point at = point_of(row, side);
  return static_cast<std::size_t>(inside(at.x, side) * inside(at.y, side) * inside(at.z, side));
}
bool are_neighbours(std::size_t a, std::size_t b, std::int64_t side) {
  const Point p = point_of(a, side), q = point_of(b, side);
  return std::abs(p.x - q.x) <= 1 && std::abs(p.y - q.y) <= 1 && std::abs(p.z - q.z) <= 1;
}

// The lengths of `rows` rows of a power law, before they are put into a random order.
std::vector<std::uint32_t> power_lengths(std::size_t rows, std::int64_t longest) {
  std::vector<std::uint32_t> lengths(rows);
  for (std::size_t i = 0; i < rows; ++i)
    if (i % 8 != 0)
      lengths[i] = static_cast<std::uint32_t>(
          std::min(static_cast<double>(longest), static_cast<double>(rows) / (static_cast<double>(i) + 0.5)));
  return lengths;
}
std::vector<std::uint32_t> unordered_lengths(const Pattern& p) {
  if (p.kind == Kind::power) return power_lengths(p.rows, p.parameter);
  std::vector<std::uint32_t> lengths = power_lengths(p.rows - cube_rows(p), 1 << 13);
  lengths.front() = kLongRow;
  return lengths;
}
bool has_power(const Pattern& p) { return p.kind == Kind::power || p.kind == Kind::both; }

// The length of a row whose length does not depend on the seed.
std::size_t length_of(const Pattern& p, std::size_t row) {
  switch (p.kind) {
    case Kind::one:
      return row == static_cast<std::size_t>(p.parameter) ? 150001 : row % 3 == 1 ? 1 : 0;
    case Kind::even:
      return static_cast<std::size_t>(p.parameter);
    case Kind::gaps:
      return row < 40 ? 0 : row < 168 ? 32 : row == 171 ? 4096 : 0;
    case Kind::diagonal:
      return 1;
    case Kind::chain:
      return 3 - (row == 0 ? 1u : 0u) - (row + 1 == p.rows ? 1u : 0u);
    default:
      throw std::logic_error("the lengths of such rows depend on the seed");
  }
}

std::size_t cube_entries(std::int64_t side) {
  const auto line = static_cast<std::size_t>(3 * side - 2);
  return line * line * line;
}

// Replaces connections of the cube.
void replace_connections(Layout& a) {
  const std::size_t points = cube_rows(a.pattern);
  if (points == 0) return;
  const std::int64_t side = a.pattern.parameter;
  const std::size_t count = (cube_entries(side) - points) / 2 / kReplaced;
  std::uint64_t drawn = 0;
  auto draw = [&](std::size_t below) { return random_bits(a.seed ^ 0x5EED, drawn++) % below; };
  auto keep = [](std::vector<std::uint64_t>& to, std::unordered_set<std::uint64_t>& seen, std::size_t u,
                 std::size_t v) {
    if (!seen.insert(std::uint64_t{std::min(u, v)} << 32 | std::max(u, v)).second) return;
    to.push_back(std::uint64_t{u} << 32 | v), to.push_back(std::uint64_t{v} << 32 | u);
  };
  std::unordered_set<std::uint64_t> gone, made;
  while (a.removed.size() < 2 * count) {  // 13 of the 26 directions have each connection once
    const std::size_t u = draw(points), direction = 14 + draw(13);
    const Point at = point_of(u, side);
    const auto d = static_cast<std::int64_t>(direction);
    const std::int64_t x = at.x + d % 3 - 1, y = at.y + d / 3 % 3 - 1, z = at.z + d / 9 - 1;
    if (x < 0 || x >= side || y < 0 || y >= side || z >= side) continue;
    keep(a.removed, gone, u, static_cast<std::size_t>((z * side + y) * side + x));
  }
  while (a.added.size() < 2 * count) {
    const std::size_t u = draw(points), v = draw(points);
    if (!are_neighbours(u, v, side)) keep(a.added, made, u, v);
  }
  std::sort(a.removed.begin(), a.removed.end()), std::sort(a.added.begin(), a.added.end());
}

}  // namespace

std::size_t cube_rows(const Pattern& p) {
  if (p.kind != Kind::cube && p.kind != Kind::both) return 0;
  return static_cast<std::size_t>(p.parameter * p.parameter * p.parameter);
}

std::size_t entries_of(const Pattern& p) {
  std::size_t all = cube_rows(p) > 0 ? cube_entries(p.parameter) : 0;
  if (has_power(p))
    for (const std::uint32_t length : unordered_lengths(p)) all += length;
  else if (p.kind != Kind::cube)
    for (std::size_t r = 0; r < p.rows; ++r) all += length_of(p, r);
  return all;
}

Layout layout_of(const Pattern& p, std::uint64_t seed) {
  Layout a{p, seed, std::vector<std::int32_t>(p.rows + 1), {}, {}};
  replace_connections(a);
  const std::size_t points = cube_rows(p);
  std::vector<std::uint32_t> lengths;
  if (has_power(p)) {
    lengths = unordered_lengths(p);
    for (std::size_t i = lengths.size(); i > 1; --i) std::swap(lengths[i - 1], lengths[random_bits(seed, i) % i]);
  }
  auto gone = a.removed.begin(), made = a.added.begin();
  for (std::size_t r = 0; r < p.rows; ++r) {
    std::size_t length = r < points ? neighbours(r, p.parameter) : has_power(p) ? lengths[r - points] : length_of(p, r);
    for (; gone != a.removed.end() && *gone >> 32 == r; ++gone) --length;
    for (; made != a.added.end() && *made >> 32 == r; ++made) ++length;
    a.starts[r + 1] = a.starts[r] + static_cast<std::int32_t>(length);
  }
  return a;
}

void fill_columns(const Layout& a, std::span<std::int32_t> columns) {
  const Pattern& p = a.pattern;
  const std::uint64_t seed = random_bits(a.seed, 0);
  parallel_for(
      p.rows,
      [&](std::size_t from, std::size_t to) {
        auto gone = std::lower_bound(a.removed.begin(), a.removed.end(), std::uint64_t{from} << 32);
        auto made = std::lower_bound(a.added.begin(), a.added.end(), std::uint64_t{from} << 32);
        for (std::size_t r = from; r < to; ++r) {
          const auto begin = static_cast<std::size_t>(a.starts[r]);
          auto k = begin;
          const auto length = static_cast<std::size_t>(a.starts[r + 1]) - k;
          auto put = [&](std::int64_t column) { columns[k++] = static_cast<std::int32_t>(column); };
          if (r < cube_rows(p)) {
            const std::int64_t side = p.parameter;
            const Point at = point_of(r, side);
            for (std::int64_t z = std::max<std::int64_t>(at.z - 1, 0); z < std::min(at.z + 2, side); ++z)
              for (std::int64_t y = std::max<std::int64_t>(at.y - 1, 0); y < std::min(at.y + 2, side); ++y)
                for (std::int64_t x = std::max<std::int64_t>(at.x - 1, 0); x < std::min(at.x + 2, side); ++x) {
                  const std::int64_t column = (z * side + y) * side + x;
                  if (gone != a.removed.end() && *gone == (std::uint64_t{r} << 32 | static_cast<std::uint64_t>(column)))
                    ++gone;
                  else
                    put(column);
                }
            const auto middle = k;
            for (; made != a.added.end() && *made >> 32 == r; ++made)
              put(static_cast<std::int64_t>(*made & 0xffffffffu));
            const auto first = columns.begin();
            if (k != middle)
              std::inplace_merge(first + static_cast<std::ptrdiff_t>(begin),
                                 first + static_cast<std::ptrdiff_t>(middle), first + static_cast<std::ptrdiff_t>(k));
          } else if (p.kind == Kind::diagonal) {
            put(static_cast<std::int64_t>(r));
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

double gathered_sectors(const Pattern& p) {
  const Layout a = layout_of(p, 0);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(a.starts.back()));
  fill_columns(a, columns);
  double all = 0;
  for (std::size_t k = 0; k < columns.size(); k += 32) {
    std::set<std::int32_t> seen;
    for (std::size_t i = k; i < std::min(k + 32, columns.size()); ++i) seen.insert(columns[i] / 8);
    all += static_cast<double>(seen.size());
  }
  return all;
}

std::array<std::int64_t, 8> sizes_of(const Pattern& p) {
  return {static_cast<std::int64_t>(p.rows), static_cast<std::int64_t>(entries_of(p)),
          static_cast<std::int64_t>(p.kind), p.parameter};
}
Pattern pattern_of(const Case& c) {
  return {static_cast<Kind>(c.size[2]), c.size[3], static_cast<std::size_t>(c.size[0])};
}

}  // namespace ridge::lab::science
