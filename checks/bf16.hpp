// A bf16 number on the host.
#pragma once
#include <bit>
#include <cstdint>

namespace ridge::lab {

struct Bf16 {
  std::uint16_t bits;
  float as_float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  operator double() const { return as_float(); }
};

inline Bf16 rounded(float x) {  // to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}

}  // namespace ridge::lab
