// Sparse matrices in CSR: 27 points of a cube, and rows whose lengths follow a power law.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench.cuh"

struct Csr {
  int rows = 0;
  std::vector<int> starts;  // rows + 1
  std::vector<int> columns;
  std::vector<float> values;
};

// side^3 points, each with its neighbours; symmetric and positive definite: off the diagonal -c(i, j), and the diagonal
// is their sum and `shift`.
inline Csr stencil(int side, double shift) {
  Csr a;
  a.rows = side * side * side;
  a.starts.push_back(0);
  a.columns.reserve(static_cast<std::size_t>(27) * a.rows), a.values.reserve(static_cast<std::size_t>(27) * a.rows);
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int row = (z * side + y) * side + x;
        std::size_t diagonal = 0;
        double sum = shift;
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
              if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side || z + dz < 0 || z + dz >= side)
                continue;
              const int column = row + (dz * side + dy) * side + dx;
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

// An eighth of the rows is empty; of the others a share of 3 / k has k entries or more, up to `longest`. Column c is chosen
// with a probability of about 1 / c.
inline Csr power_law(int rows, int longest) {
  Csr a;
  a.rows = rows;
  a.starts.push_back(0);
  for (int r = 0; r < rows; ++r) {
    const double u = 1 - uniform(std::uint64_t{7} << 40 | unsigned(r));
    int length = static_cast<int>(std::min<double>(longest, 3 / u));
    if (bits_of(std::uint64_t{9} << 40 | unsigned(r)) % 8 == 0) length = 0;
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
