// Uniform and normal numbers of generators that draw one integer for each.
#include "random/inverse.hpp"

#include "cuda_runtime.h"

namespace ridge::simt::random {

float inverse_normal(std::uint32_t bits) {
  const bool upper = bits >> 31 != 0;
  const float u = static_cast<float>(upper ? ~bits : bits) * 0x1p-32f + 0x1p-33f;
  const auto z = static_cast<float>(normcdfinv(static_cast<double>(u)));
  return upper ? -z : z;
}
double inverse_normal(std::uint32_t bits, double) { return normcdfinv(bits * 0x1p-32 + 0x1p-33); }
double inverse_normal(std::uint64_t bits, double) {
  return normcdfinv(static_cast<double>(bits >> 11) * 0x1p-53 + 0x1p-54);
}

}  // namespace ridge::simt::random
