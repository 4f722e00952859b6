// The parts of ridge_simt/math.h that need a rounding mode, or more lines than belong into a kernel. `volatile` keeps
// operations between the two mode changes.
#include <cfenv>
#include <cmath>

#include "ridge_simt/bits.h"
#include "ridge_simt/math_library.h"

namespace ridge_simt {

namespace {

class Rounding {
 public:
  explicit Rounding(Round mode) : old_(std::fegetround()) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    std::fesetround(kModes[static_cast<int>(mode)]);
  }
  ~Rounding() { std::fesetround(old_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int old_;
};

template <class T>
T directed_op(char op, T a_, T b_, T c_, Round mode) {
  volatile T a = a_, b = b_, c = c_, result = 0;
  Rounding guard(mode);
  switch (op) {
    case '+':
      result = a + b;
      break;
    case '-':
      result = a - b;
      break;
    case '*':
      result = a * b;
      break;
    case '/':
      result = a / b;
      break;
    case 'f':
      result = std::fma(a, b, c);
      break;
    case 's':
      result = std::sqrt(a);
      break;
  }
  return result;
}

}  // namespace

float directed(char op, float a, float b, float c, Round mode) { return directed_op<float>(op, a, b, c, mode); }
double directed(char op, double a, double b, double c, Round mode) { return directed_op<double>(op, a, b, c, mode); }

float round_to_float(double v_, Round mode) {
  volatile double v = v_;
  Rounding guard(mode);
  volatile float result = static_cast<float>(v);
  return result;
}
float round_to_float(long long v_, Round mode) {
  volatile long long v = v_;
  Rounding guard(mode);
  volatile float result = static_cast<float>(v);
  return result;
}
float round_to_float(unsigned long long v_, Round mode) {
  volatile unsigned long long v = v_;
  Rounding guard(mode);
  volatile float result = static_cast<float>(v);
  return result;
}
double round_to_double(long long v_, Round mode) {
  volatile long long v = v_;
  Rounding guard(mode);
  volatile double result = static_cast<double>(v);
  return result;
}
double round_to_double(unsigned long long v_, Round mode) {
  volatile unsigned long long v = v_;
  Rounding guard(mode);
  volatile double result = static_cast<double>(v);
  return result;
}

// Inverse of the normal distribution: P. Acklam's rational start (relative error 1.2e-9), then Halley's steps.
double normal_inverse(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0) return -INFINITY;
  if (p == 1) return INFINITY;
  if (p > 0.5 && p > 0.9) return -normal_inverse(1 - p);
  double x;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q - 2.549732539343734) * q +
          4.374664141464968) *
             q +
         2.938163982698783) /
        ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q + 3.754408661907416) * q +
         1);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
           1.383577518672690e+02) *
              r -
          3.066479806614716e+01) *
             r +
         2.506628277459239) *
        q /
        (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
           6.680131188771972e+01) *
              r -
          1.328068155288572e+01) *
             r +
         1);
  }
  for (int i = 0; i < 2; ++i) {
    const double error = 0.5 * std::erfc(-x * M_SQRT1_2) - p;
    const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
    if (!std::isfinite(step)) break;
    x -= step / (1 + x * step / 2);
  }
  return x;
}
// y = erf(x) with x = z / sqrt(2); near 0 the argument of the distribution would lose digits.
double erf_inverse(double y) {
  if (std::fabs(y) > 0.5) {
    const double magnitude = -normal_inverse((1 - std::fabs(y)) / 2) * M_SQRT1_2;
    return std::copysign(magnitude, y);
  }
  double x = y * 0.88622692545275801;  // sqrt(pi) / 2
  for (int i = 0; i < 6; ++i) {
    const double step = (std::erf(x) - y) * 0.88622692545275801 * std::exp(x * x);
    x -= step / (1 + x * step);
  }
  return x;
}

// Exact reduction to [-1, 1], so that multiples of 1/2 give exact results.
double sin_pi(double x) {
  if (!std::isfinite(x)) return NAN;
  double r = x - 2 * std::nearbyint(x / 2);
  if (r > 0.5) r = 1 - r;
  if (r < -0.5) r = -1 - r;
  return r == 0 ? std::copysign(0.0, x) : std::sin(M_PI * r);
}
double cos_pi(double x) {
  if (!std::isfinite(x)) return NAN;
  return std::sin(M_PI * (0.5 - std::fabs(x - 2 * std::nearbyint(x / 2)))) + 0.0;
}
// exp(x^2) erfc(x): asymptotic series where erfc underflows.
double erfc_scaled(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  const double q = 1 / (2 * x * x);
  return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q)))) / (x * std::sqrt(M_PI));
}

}  // namespace ridge_simt
