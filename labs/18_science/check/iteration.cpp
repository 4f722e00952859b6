#include "iteration.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ridge::lab::science {

namespace {

constexpr std::size_t kKept = 5;  // iterations whose x is kept

// T: of the vectors. A row's terms are added by kLanes lanes in turn, and then the lanes' sums by halves.
template <class T, std::size_t kLanes>
class Solver {
 public:
  explicit Solver(ConstBuffers in)
      : starts_(as<std::int32_t>(in[1])),
        columns_(as<std::int32_t>(in[2])),
        values_(floats(in[0])),
        b_(floats(in[3])) {}

  // `enough` is asked after each iteration, and before the first.
  template <class Enough>
  Solved solve(Enough enough) const {
    const std::size_t n = b_.size();
    std::vector<T> x(n), r(b_.begin(), b_.end()), p = r, q(n);
    Solved s;
    auto keep = [&](double rho) {
      s.rho.push_back(rho), s.x.emplace_back(x.begin(), x.end());
      if (s.x.size() > kKept) s.x.erase(s.x.begin());
    };
    keep(dot(r, r));
    while (!enough(s)) {
      multiply(p, q);
      const double rho = s.rho.back();
      const T alpha = static_cast<T>(rho / dot(p, q));
      each([&](std::size_t i) { x[i] += alpha * p[i], r[i] -= alpha * q[i]; });
      const double now = dot(r, r);
      const T beta = static_cast<T>(now / rho);
      each([&](std::size_t i) { p[i] = r[i] + beta * p[i]; });
      keep(now);
    }
    return s;
  }

 private:
  template <class Body>
  void each(Body body) const {
    parallel_for(b_.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) body(i);
    });
  }
  static double dot(const std::vector<T>& a, const std::vector<T>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  }
  void multiply(const std::vector<T>& p, std::vector<T>& q) const {
    parallel_for(
        q.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            std::array<T, kLanes> sums{};
            const auto begin = static_cast<std::size_t>(starts_[r]), end = static_cast<std::size_t>(starts_[r + 1]);
            for (std::size_t k = begin; k < end; ++k)
              sums[(k - begin) % kLanes] += static_cast<T>(values_[k]) * p[static_cast<std::size_t>(columns_[k])];
            for (std::size_t half = kLanes / 2; half > 0; half /= 2)
              for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
            q[r] = sums[0];
          }
        },
        1 << 13);
  }
  std::span<const std::int32_t> starts_, columns_;
  std::span<const float> values_, b_;
};

}  // namespace

Solved solve(ConstBuffers in, double tolerance, std::size_t most) {
  std::size_t beyond = 0;
  return Solver<double, 1>(in).solve([&](const Solved& s) {
    if (s.rho.back() <= tolerance * tolerance * s.rho[0]) ++beyond;
    return s.rho.size() > most || beyond > 2 || s.rho.back() <= 0;
  });
}

Rounding rounding_of(ConstBuffers in, const Solved& exact) {
  Rounding all;
  all.rho.resize(exact.rho.size());
  const std::vector<double>& x = exact.x.back();
  double largest = 0;
  for (const double v : x) largest = std::max(largest, std::fabs(v));
  if (largest == 0) return all;
  auto compare = [&](const Solved& rounded) {
    double squares = 0, drift = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow((rounded.x.back()[i] - x[i]) / largest, 2);
    all.x = std::max(all.x, std::sqrt(squares / static_cast<double>(x.size())));
    for (std::size_t k = 0; k < all.rho.size() && exact.rho[k] > 0; ++k) {
      drift = std::max(drift, std::fabs(rounded.rho[k] / exact.rho[k] - 1));
      all.rho[k] = std::max(all.rho[k], drift);
    }
  };
  auto enough = [&](const Solved& s) { return s.rho.size() == exact.rho.size(); };
  compare(Solver<float, 1>(in).solve(enough));
  compare(Solver<float, 8>(in).solve(enough));
  return all;
}

}  // namespace ridge::lab::science
