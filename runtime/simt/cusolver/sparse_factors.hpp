// Sparse factorisations by rows, in double: QR by Givens rotations and Cholesky, each applied to one right-hand side.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <map>
#include <vector>

namespace ridge::simt::solver {

// Column to value.
template <class V>
using SparseRow = std::map<int, V>;

inline double conjugate(double v) { return v; }
inline std::complex<double> conjugate(std::complex<double> v) { return std::conj(v); }

// R x = Q^H b, where A = Q R has more rows than columns or as many.
template <class V>
class SparseQr {
 public:
  explicit SparseQr(int columns) : rows_(static_cast<std::size_t>(columns)), right_(rows_.size()) {}

  // Takes a row of A and its right-hand side: rotated with the rows of R from its first column on.
  void add(SparseRow<V> row, V right) {
    while (!row.empty()) {
      const auto first = row.begin();
      if (first->second == V(0)) {
        row.erase(first);
        continue;
      }
      const auto j = static_cast<std::size_t>(first->first);
      if (rows_[j].empty()) {
        rows_[j] = std::move(row);
        right_[j] = right;
        return;
      }
      rotate(rows_[j], right_[j], row, right, first->first);
      row.erase(first->first);
    }
  }

  // The first row whose diagonal is not above `tolerance`, or -1.
  int singular(double tolerance) const {
    for (std::size_t j = 0; j < rows_.size(); ++j)
      if (rows_[j].empty() || !(std::abs(rows_[j].begin()->second) > tolerance)) return static_cast<int>(j);
    return -1;
  }

  std::vector<V> solve() const {
    std::vector<V> x = right_;
    for (std::size_t j = x.size(); j-- > 0;) {
      for (auto at = std::next(rows_[j].begin()); at != rows_[j].end(); ++at)
        x[j] -= at->second * x[static_cast<std::size_t>(at->first)];
      x[j] /= rows_[j].begin()->second;
    }
    return x;
  }

 private:
  // Makes other[j] 0.
  static void rotate(SparseRow<V>& pivot, V& pivot_right, SparseRow<V>& other, V& right, int j) {
    const V a = pivot[j], b = other[j];
    const double length = std::hypot(std::abs(a), std::abs(b));
    const V c = a / length, s = b / length;
    const auto turn = [&](V& p, V& o) {
      const V up = conjugate(c) * p + conjugate(s) * o;
      o = c * o - s * p;
      p = up;
    };
    for (const auto& element : other) pivot.try_emplace(element.first, V(0));
    for (const auto& element : pivot) other.try_emplace(element.first, V(0));
    for (auto& element : pivot) turn(element.second, other[element.first]);
    turn(pivot_right, right);
  }

  std::vector<SparseRow<V>> rows_;
  std::vector<V> right_;
};

// A = L L^H, of which the lower triangle is read.
template <class V>
class SparseCholesky {
 public:
  // Takes the next row: false where its pivot is not above `tolerance`.
  bool add(const SparseRow<V>& a, double tolerance) {
    const int i = static_cast<int>(diagonal_.size());
    SparseRow<V> row(a.begin(), a.lower_bound(i));
    const auto on_diagonal = a.find(i);
    double pivot = on_diagonal == a.end() ? 0 : std::real(on_diagonal->second);
    for (auto at = row.begin(); at != row.end(); ++at) {  // fill-in comes behind `at`
      const auto j = static_cast<std::size_t>(at->first);
      at->second /= diagonal_[j];
      for (const auto& [k, v] : columns_[j])
        if (k < i) row.try_emplace(k, V(0)).first->second -= at->second * conjugate(v);
      pivot -= std::norm(at->second);
    }
    if (!(pivot > 0) || !(std::sqrt(pivot) > tolerance)) return false;
    for (const auto& [j, v] : row) columns_[static_cast<std::size_t>(j)].emplace(i, v);
    diagonal_.push_back(std::sqrt(pivot));
    columns_.emplace_back();
    return true;
  }

  std::vector<V> solve(std::vector<V> x) const {
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] /= diagonal_[j];
      for (const auto& [k, v] : columns_[j]) x[static_cast<std::size_t>(k)] -= v * x[j];
    }
    for (std::size_t j = x.size(); j-- > 0;) {
      for (const auto& [k, v] : columns_[j]) x[j] -= conjugate(v) * x[static_cast<std::size_t>(k)];
      x[j] /= diagonal_[j];
    }
    return x;
  }

 private:
  std::vector<SparseRow<V>> columns_;  // of L, below the diagonal
  std::vector<double> diagonal_;
};

}  // namespace ridge::simt::solver
