// Sparse matrices in CSR by the rules of lab 18's judge (labs/18_science/check/matrices.hpp): 27 points of a cube, one in 256
// of whose connections is replaced, and rows whose lengths follow a power law.
#pragma once
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "bench.cuh"

struct Csr {
  int rows = 0;
  std::vector<int> starts;  // rows + 1
  std::vector<int> columns;
  std::vector<float> values;
};

// Connections of points: row << 32 | column, both ways, ascending.
struct Replaced {
  std::vector<std::uint64_t> removed, added;
};

inline Replaced replaced_connections(int side) {
  const std::uint64_t points = std::uint64_t(side) * side * side, line = 3 * std::uint64_t(side) - 2;
  const std::size_t count = (line * line * line - points) / 2 / 256;
  std::uint64_t drawn = std::uint64_t{3} << 40;
  auto draw = [&](std::uint64_t below) { return bits_of(drawn++) % below; };
  auto keep = [](std::vector<std::uint64_t>& to, std::unordered_set<std::uint64_t>& seen, std::uint64_t u,
                 std::uint64_t v) {
    if (!seen.insert(std::min(u, v) << 32 | std::max(u, v)).second) return;
    to.push_back(u << 32 | v), to.push_back(v << 32 | u);
  };
  Replaced all;
  std::unordered_set<std::uint64_t> gone, made;
  while (all.removed.size() < 2 * count) {  // 13 of the 26 directions have each connection once
    const std::uint64_t u = draw(points);
    const int d = 14 + static_cast<int>(draw(13));
    const int x = int(u % side) + d % 3 - 1, y = int(u / side % side) + d / 3 % 3 - 1,
              z = int(u / side / side) + d / 9 - 1;
    if (x < 0 || x >= side || y < 0 || y >= side || z >= side) continue;
    keep(all.removed, gone, u, (std::uint64_t(z) * side + y) * side + x);
  }
  while (all.added.size() < 2 * count) {
    const std::uint64_t u = draw(points), v = draw(points);
    auto apart = [&](std::uint64_t a, std::uint64_t b) { return std::abs(int(a % side) - int(b % side)) > 1; };
    if (apart(u, v) || apart(u / side, v / side) || apart(u / side / side, v / side / side))
      keep(all.added, made, u, v);
  }
  std::sort(all.removed.begin(), all.removed.end()), std::sort(all.added.begin(), all.added.end());
  return all;
}

// side^3 points; symmetric and positive definite: off the diagonal -c(i, j), and the diagonal is their sum and `shift`.
inline Csr stencil(int side, double shift) {
  const Replaced replaced = replaced_connections(side);
  auto gone = replaced.removed.begin(), made = replaced.added.begin();
  Csr a;
  a.rows = side * side * side;
  a.starts.push_back(0);
  a.columns.reserve(static_cast<std::size_t>(27) * a.rows), a.values.reserve(static_cast<std::size_t>(27) * a.rows);
  std::vector<int> columns;
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int row = (z * side + y) * side + x;
        columns.clear();
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
              if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side || z + dz < 0 || z + dz >= side)
                continue;
              const int column = row + (dz * side + dy) * side + dx;
              if (gone != replaced.removed.end() && *gone == (std::uint64_t(row) << 32 | unsigned(column)))
                ++gone;
              else
                columns.push_back(column);
            }
        for (; made != replaced.added.end() && *made >> 32 == std::uint64_t(row); ++made)
          columns.push_back(static_cast<int>(*made & 0xffffffffu));
        std::sort(columns.begin(), columns.end());
        std::size_t diagonal = 0;
        double sum = shift;
        for (const int column : columns) {
          a.columns.push_back(column);
          if (column == row) {
            diagonal = a.values.size();
            a.values.push_back(0);
            continue;
          }
          const std::uint64_t pair = (std::uint64_t(std::min(row, column)) << 32) | unsigned(std::max(row, column));
          const float c = static_cast<float>(0.5 + uniform(pair));
          a.values.push_back(-c), sum += c;
        }
        a.values[diagonal] = static_cast<float>(sum);
        a.starts.push_back(static_cast<int>(a.columns.size()));
      }
  return a;
}

// An eighth of the rows is empty; of the others a share of 1 / k has k entries or more, up to `longest`, in random order.
// Column c is chosen with a probability of about 1 / c.
inline Csr power_law(int rows, int longest) {
  std::vector<int> lengths(rows);
  for (int i = 0; i < rows; ++i)
    if (i % 8 != 0) lengths[i] = static_cast<int>(std::min<double>(longest, rows / (i + 0.5)));
  for (int i = rows; i > 1; --i) std::swap(lengths[i - 1], lengths[bits_of(std::uint64_t{7} << 40 | unsigned(i)) % i]);
  Csr a;
  a.rows = rows;
  a.starts.push_back(0);
  for (const int length : lengths) {
    for (int k = 0; k < length; ++k) {
      const double v = (k + uniform(a.columns.size())) / length;
      const double c = std::pow(double(rows), v) - 1;
      a.columns.push_back(std::min(rows - 1, static_cast<int>(c)));
      a.values.push_back(static_cast<float>(2 * uniform(a.columns.size() + (std::uint64_t{5} << 40)) - 1));
    }
    a.starts.push_back(static_cast<int>(a.columns.size()));
  }
  return a;
}
