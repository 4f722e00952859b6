// How far an honest answer may be from the exact one. A tolerance comes from the precision, the length of the reduction
// and its terms, never from a guess: what is left to choose is the probability of a false alarm.
//
// Bounds on the error of s = t_1 + ... + t_n in arithmetic with unit roundoff u, in any order:
//   - always     |error| <= gamma_n sum |t_i|, gamma_n = n u / (1 - n u)   (Higham, Accuracy and Stability, 2002, ch. 4)
//   - in practice rounding errors are as good as independent with mean 0, and grow with sqrt(n)
//                (Higham & Mary, SIAM J. Sci. Comput. 41, 2019)
//   - for terms of both signs the partial sums stay small, and the error is smaller again
//                (Higham & Mary, SIAM J. Sci. Comput. 42, 2020)
// The last two in numbers: an addition that gives the partial sum p adds an error of standard deviation at most u |p| /
// sqrt(3). One long chain is the worst order. If the order does not depend on the values, the expected sum of the
// squares of its partial sums is n (T^2 / 3 + Q / 6) with T = sum t_i and Q = sum t_i^2. So
//   deviation^2 = u^2 / 3 * (n (T^2 / 3 + Q / 6) + Q + T^2)      (Q: rounded products; T^2: the stored result)
// With terms of mean 0 that is u sqrt(n Q / 6), while inputs rounded to u' give u' sqrt(Q): ten times more for TF32 in
// place of fp32 even for sums of a million terms. Hence: fill inputs with both signs (compare.hpp).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace ridge::lab {

struct Precision {
  const char* name;
  int bits;            // of the significand, with the hidden one
  bool chops = false;  // rounds toward zero: errors add up instead of cancelling
  double unit() const { return std::ldexp(1.0, chops ? 1 - bits : -bits); }
};
inline constexpr Precision kFp64{"fp64", 53}, kFp32{"fp32", 24}, kTf32{"TF32", 11}, kFp16{"fp16", 11}, kBf16{"bf16", 8};
// Tensor cores add in fp32 with some bits cut off (observed on Volta to Hopper: Fasi, Higham, Mikaitis, Pranesh 2021).
inline constexpr Precision kTensorFp32{"fp32 in tensor cores", 24, true};

// The terms of one reduction, as far as its error depends on them.
struct Reduction {
  double length = 0, sum = 0, magnitude = 0, squares = 0;
  void add(double term) {
    length += 1;
    sum += term;
    magnitude += std::fabs(term);
    squares += term * term;
  }
};

// One element of the answer: the exact value, the standard deviation of an honest error, and what it never exceeds.
struct Expected {
  double value = 0;
  double deviation = 0;
  double worst = 0;
  double magnitude = 0;  // of what was added up
  bool leans = false;    // honest errors have a direction
};

// The tolerance of all sums of one length: of the variance, what each part of the reduction gives.
struct SumTolerance {
  double of_sum, of_squares;  // times sum^2, times squares
  double of_magnitude;        // of the worst error
  double tiny;                // flushed to zero: allowed
  bool leans;

  Expected of(double sum, double magnitude, double squares) const {
    return {sum, std::sqrt(of_sum * (sum * sum) + of_squares * squares) + tiny, of_magnitude * magnitude + tiny,
            magnitude, leans};
  }
};

// The precision that the task allows. Factors may be rounded to `input` before they are multiplied.
struct Tolerance {
  Precision accumulator = kFp32;
  Precision input = kFp64;  // as they are
  Precision output = kFp32;

  SumTolerance of_length(double n) const {
    const double u = accumulator.unit(), in = input.unit();
    const double out = output.bits < accumulator.bits ? output.unit() : 0;
    const double chopped = accumulator.chops ? u * u * n * n : 0;  // of the sum of the partial sums
    const double gamma = (n + 1) * u < 0.5 ? (n + 1) * u / (1 - (n + 1) * u) : std::numeric_limits<double>::infinity();
    return {u * u / 3 * (n / 3 + 1) + chopped / 4 + out * out / 3,
            u * u / 3 * (n / 6 + 1) + chopped / 12 + 2 * in * in / 3, gamma + 2.5 * in + out,
            (n + 1) * std::numeric_limits<float>::min(), accumulator.chops};
  }
  Expected of(const Reduction& r) const { return of_length(r.length).of(r.sum, r.magnitude, r.squares); }
};

// A value that takes a few operations: `ulps` units in the last place of what was added up (`magnitude`).
inline Expected within_ulps(double value, double magnitude, double ulps, Precision p = kFp32) {
  const double worst = ulps * 2 * p.unit() * magnitude + std::numeric_limits<float>::min();
  return {value, worst / 2, worst, magnitude};
}

// How many deviations the largest of `elements` errors may be: false alarms once in ten million comparisons. The tail
// is exponential, not Gaussian, since the partial sums of some elements wander further than others'.
inline double largest_deviation(double elements) { return 0.6 * std::log(std::max(1.0, elements) / 1e-7); }

// The limit for the mean over all elements of (error / deviation)^2, which is at most 1 on average, and for the size of
// the mean of (error / deviation) in the direction of the value, which is 0.
inline double mean_square_limit(double elements) { return 1 + 15 / std::sqrt(elements) + 300 / elements; }
inline double bias_limit(double elements) { return 0.1 + 8 / std::sqrt(elements) + 10 / elements; }

}  // namespace ridge::lab
