// The sparse matrices of lab 18. Rows' lengths follow from a case's sizes, columns and values from the seed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checks/compare.hpp"

namespace ridge::lab::science {

// cube: side^3 points, each with its 27 neighbours or fewer at the surface; `side` is the parameter.
// power: an eighth of the rows is empty, of the others a share of 3 / k has k entries or more, up to the parameter.
// both: a cube, and behind it rows of `power` up to 2^13 that point anywhere, one of which has 30011 entries.
// one: one row of all, the parameter's, has nearly all entries. even: each row has as many entries as the parameter.
// chain: the neighbours before and behind, and the row's own.
enum class Kind : std::int64_t { cube, power, both, one, even, chain };

struct Pattern {
  Kind kind = Kind::even;
  std::int64_t parameter = 0;
  std::size_t rows = 1;
};

// rows + 1 numbers.
std::vector<std::int32_t> starts_of(const Pattern& p);
std::size_t entries_of(const Pattern& p);
// How many of the rows, the first ones, are those of a cube.
std::size_t cube_rows(const Pattern& p);

void fill_columns(const Pattern& p, std::span<const std::int32_t> starts, std::span<std::int32_t> columns,
                  std::uint64_t seed);

// Values of a symmetric and positive definite matrix, for cube and chain: off the diagonal -c(i, j) with c from 0.5
// to 1.5, on it their sum and `shift`.
void fill_symmetric(std::span<const std::int32_t> starts, std::span<const std::int32_t> columns,
                    std::span<float> values, double shift, std::uint64_t seed);

// A pattern's sizes in a case: rows, entries, kind, parameter.
std::array<std::int64_t, 8> sizes_of(const Pattern& p);
Pattern pattern_of(const Case& c);

}  // namespace ridge::lab::science
