// The two 8-bit formats of Micikevicius et al. 2022 ("FP8 Formats for Deep Learning"), as bit patterns. Conversions
// from float round to nearest, ties to even. What is too large becomes the largest number with saturation, else
// infinity or NaN, as in NVIDIA's conversions.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ridge::simt {

// E4M3: bias 7, no infinity, one NaN. E5M2: bias 15, infinity and NaN as in IEEE 754.
template <int kExponentBits, int kMantissaBits, bool kInfinity>
struct Fp8 {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint8_t kNan = 0x7f;

  static float widen(std::uint8_t bits) {
    const int exponent = bits >> kMantissaBits & ((1 << kExponentBits) - 1),
              mantissa = bits & ((1 << kMantissaBits) - 1);
    float value;
    if (kInfinity && exponent == (1 << kExponentBits) - 1)
      value = mantissa == 0 ? INFINITY : NAN;
    else if (!kInfinity && (bits & 0x7f) == 0x7f)
      value = NAN;
    else if (exponent == 0)
      value = std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits);
    else
      value = std::ldexp(static_cast<float>(mantissa + (1 << kMantissaBits)), exponent - kBias - kMantissaBits);
    return bits & 0x80 ? -value : value;
  }

  static std::uint8_t narrow(double value, bool saturate = true) {
    if (std::isnan(value)) return kNan;
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
    constexpr int kLargest = kInfinity ? ((1 << kExponentBits) - 1) * (1 << kMantissaBits) - 1 : 0x7e;
    const auto at_end = static_cast<std::uint8_t>(sign | (saturate ? kLargest : kLargest + 1));
    const double magnitude = std::fabs(value);
    if (magnitude >= 2 * widen(kLargest)) return at_end;
    // In units of the last place of its exponent, of the subnormals' where it is smaller.
    const int exponent = magnitude == 0 ? 1 - kBias : std::max(std::ilogb(magnitude), 1 - kBias);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, kMantissaBits - exponent)));
    // A normal number's units hold its leading one, and carry into the exponent by themselves.
    const int bits = ((exponent + kBias - 1) << kMantissaBits) + units;
    return bits > kLargest ? at_end : static_cast<std::uint8_t>(sign | bits);
  }
};
using E4m3 = Fp8<4, 3, false>;
using E5m2 = Fp8<5, 2, true>;

}  // namespace ridge::simt
