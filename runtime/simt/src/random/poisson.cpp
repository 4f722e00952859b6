// Poisson's distribution. Tables and their order were found by comparing with cuRAND 13's generators for the host.
#include <algorithm>
#include <cmath>
#include <vector>

#include "random/generator.hpp"

namespace ridge::simt::random {
namespace {

// P(first + i), as far as a double holds it.
struct Masses {
  unsigned first = 0;
  std::vector<double> p;
};

Masses masses(double lambda) {
  constexpr double kDeviations = 45;  // a double is 0 beyond 39
  Masses m;
  const double begin = std::floor(lambda - kDeviations * std::sqrt(lambda));
  for (unsigned k = begin > 0 ? static_cast<unsigned>(begin) : 0;; ++k) {
    const double p = std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1.0));
    if (p > 0) {
      m.p.push_back(p);
    } else if (k < lambda) {
      m.first = k + 1;
    } else {
      return m;
    }
  }
}

// Marsaglia, Tsang and Wang, J. Stat. Software 11, 2004: columns of equal width hold their own value up to `own`, and
// another value above. Values with too much, in descending order, fill the columns with too little. The columns are
// visited in ascending order, again and again.
struct AliasTable {
  unsigned first;
  std::vector<double> own;  // where in (0, 1] the column's own value ends
  std::vector<unsigned> other;

  explicit AliasTable(Masses m) : first(m.first), own(m.p.size()), other(m.p.size()) {
    const auto n = static_cast<unsigned>(m.p.size());
    const double width = 1.0 / n;
    std::vector<bool> done(n);
    for (unsigned i = 0; i < n; ++i) own[i] = (i + 1) * width, other[i] = i;
    unsigned low = 0;
    for (unsigned high = n; high-- > 0;) {
      for (unsigned looked = 0; m.p[high] > width && looked < n; ++looked, low = (low + 1) % n) {
        if (done[low] || m.p[low] >= width) continue;
        own[low] = low * width + m.p[low];
        other[low] = high;
        m.p[high] -= width - m.p[low];
        done[low] = true;
        looked = 0;
      }
    }
  }

  unsigned value(double u) const {
    auto column = static_cast<std::size_t>(u * static_cast<double>(own.size()));
    if (column >= own.size()) column = own.size() - 1;
    return first + (u < own[column] ? static_cast<unsigned>(column) : other[column]);
  }
};

// The smallest k with P(X <= k) >= u.
struct Inverse {
  unsigned first;
  std::vector<double> sums;

  explicit Inverse(const Masses& m) : first(m.first) {
    double sum = 0;
    for (const double p : m.p) sums.push_back(sum += p);
  }
  unsigned value(double u) const {
    const auto at = std::lower_bound(sums.begin(), sums.end(), u) - sums.begin();
    return first + static_cast<unsigned>(std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(sums.size()) - 1));
  }
};

template <class Uniform, class Table>
curandStatus_t look_up(const Table& table, curandGenerator_st& from, unsigned* out, std::size_t n) {
  std::unique_ptr<Uniform[]> u(new Uniform[n]);
  if (const curandStatus_t status = from.uniform(u.get(), n); status != CURAND_STATUS_SUCCESS) return status;
  for (std::size_t i = 0; i < n; ++i) out[i] = table.value(u[i]);
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

curandStatus_t poisson(curandGenerator_st& from, unsigned* out, std::size_t n, double lambda) {
  constexpr double kTables = 2000;  // from here on cuRAND has no tables
  const Masses m = masses(lambda);
  if (from.quasi()) return look_up<double>(Inverse(m), from, out, n);
  return lambda < kTables ? look_up<float>(AliasTable(m), from, out, n) : look_up<float>(Inverse(m), from, out, n);
}

}  // namespace ridge::simt::random
