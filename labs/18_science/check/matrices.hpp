// The sparse matrices of lab 18. Rows and entries follow from a case's sizes. Which row has how many entries, all columns
// and all values follow from the case's seed, so that a kernel has to read them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checks/compare.hpp"

namespace ridge::lab::science {

// cube: side^3 points, each connected with itself and its 26 neighbours, or fewer at the surface; `side` is the parameter.
//   One in 256 of these connections is replaced by one between two points drawn at random.
// power: an eighth of the rows is empty; of the others a share of 1 / k has k entries or more, up to the parameter. Their
//   order is random.
// both: a cube, and after it as many rows of `power` up to 2^13, one of which has 30011 entries instead. They point anywhere.
// one: one row of all, the parameter's, has nearly all entries. even: each row has as many entries as the parameter.
// gaps: empty rows in front, two chunks of 4096 entries, of which the second is one row, empty rows between them and after.
// chain: each row has its own entry and those of the rows before and after it. diagonal: each row has its own entry.
enum class Kind : std::int64_t { cube, power, both, one, even, gaps, chain, diagonal };

struct Pattern {
  Kind kind = Kind::even;
  std::int64_t parameter = 0;
  std::size_t rows = 1;
};

inline constexpr std::size_t kGapsRows = 40 + 128 + 3 + 1 + 5000;  // of Kind::gaps

std::size_t entries_of(const Pattern& p);
// The number of rows, from row 0 on, that belong to a cube.
std::size_t cube_rows(const Pattern& p);

// Where the rows begin, and what differs from the pattern.
struct Layout {
  Pattern pattern;
  std::uint64_t seed = 0;
  std::vector<std::int32_t> starts;           // rows + 1
  std::vector<std::uint64_t> removed, added;  // connections of a cube: row << 32 | column, both ways, ascending
};
Layout layout_of(const Pattern& p, std::uint64_t seed);

void fill_columns(const Layout& a, std::span<std::int32_t> columns);

// The sectors of x that 32 neighbouring entries need, summed over all entries. Seeds differ in it by less than 1%.
double gathered_sectors(const Pattern& p);

// Values of a symmetric and positive definite matrix, for cube, chain and diagonal: off the diagonal -c(i, j) with c from 0.5
// to 1.5, on it their sum and `shift`.
void fill_symmetric(std::span<const std::int32_t> starts, std::span<const std::int32_t> columns,
                    std::span<float> values, double shift, std::uint64_t seed);

// A pattern's sizes in a case: rows, entries, kind, parameter.
std::array<std::int64_t, 8> sizes_of(const Pattern& p);
Pattern pattern_of(const Case& c);

}  // namespace ridge::lab::science
