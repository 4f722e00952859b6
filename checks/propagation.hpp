// Expected answers of a chain of steps, as a network is: beside each exact number goes the variance of the error that
// an honest fp32 computation of it has. It inherits from its factors, to first order and as if their errors were
// independent, and its own roundings add what tolerance.hpp says.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tolerance.hpp"

namespace ridge::lab {

struct Real {
  double value = 0, variance = 0;
  double magnitude = 0;  // of what was added up
};

// `count` numbers. Inputs are exact.
struct Reals {
  std::vector<double> value, variance;
  Reals() = default;
  explicit Reals(std::size_t count) : value(count), variance(count) {}
  Real operator[](std::size_t i) const { return {value[i], variance[i]}; }
  void set(std::size_t i, const Real& r) { value[i] = r.value, variance[i] = r.variance; }
  std::size_t size() const { return value.size(); }
};

// A sum of products. Parts of it may be made apart, on other ranks say: that only makes the error smaller.
class RealSum {
 public:
  void add(double a, double a_variance, double b, double b_variance) {
    const double term = a * b;
    sum_ += term, squares_ += term * term, inherited_ += a_variance * b * b + a * a * b_variance, length_ += 1;
  }
  void add(const Real& a, const Real& b) { add(a.value, a.variance, b.value, b.variance); }
  void add(const Real& a) { add(a, {1}); }
  Real done() const {
    const SumTolerance t = Tolerance{}.of_length(length_ + 1);
    return {sum_, t.of_sum * sum_ * sum_ + t.of_squares * squares_ + inherited_, std::sqrt(squares_)};
  }

 private:
  double sum_ = 0, squares_ = 0, inherited_ = 0, length_ = 0;
};

// `x` and an exact number, rounded.
inline Real plus(const Real& x, double exact) {
  const double own = kFp32.unit() * (x.value + exact);
  return {x.value + exact, x.variance + own * own, x.magnitude};
}

inline Expected expected(const Real& r) {
  // Errors are not quite independent, and an element may be unlucky: `worst` is no bound of rounding here, but far
  // beyond chance.
  constexpr double kMargin = 1.5, kWorst = 50;
  const double deviation = kMargin * std::sqrt(r.variance) + std::numeric_limits<float>::min();
  // A report takes errors of less than 2% of the magnitude for those of a lower precision: bf16 makes less than a fifth
  // of that.
  return {r.value, deviation, kWorst * deviation, 0.2 * std::max(r.magnitude, std::fabs(r.value)), false};
}

}  // namespace ridge::lab
