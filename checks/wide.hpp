// Loops over gigabytes, for the widest vectors that the machine has.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// A function marked with it is compiled for several instruction sets, and the program takes what the machine has. Its
// loops must be simple, and all that they call inlined.
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define RIDGE_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RIDGE_WIDE
#endif

namespace ridge::lab {

// Eight numbers that one instruction takes, or some.
struct alignas(64) Eight {
  double x __attribute__((vector_size(64))) = {};
};

// exp(x) for x <= 0, within 4e-16 of it relatively; 0 below -700. A loop of it becomes vector code, std::exp does not.
inline double exp_not_positive(double x) {
  const double y = std::max(x, -700.0);
  // y = n ln 2 + r with |r| <= ln 2 / 2. Added to 1.5 x 2^52, a number is rounded, and stands in the lowest bits.
  constexpr double shift = 0x1.8p52, log2e = 1.4426950408889634, ln2_high = 0x1.62e42fee00000p-1,
                   ln2_low = 1.9082149292705877e-10;
  const double shifted = y * log2e + shift, n = shifted - shift;
  const double r = (y - n * ln2_high) - n * ln2_low;
  double p = 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);  // 2^n
  return x < -700 ? 0 : p * power;
}

}  // namespace ridge::lab
