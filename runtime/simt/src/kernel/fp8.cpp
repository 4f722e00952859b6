// cuda_fp8.h's conversions.
#include "kernel/fp8.hpp"

#include "ridge_simt/bits.h"

namespace ridge_simt {

std::uint8_t narrow_fp8(double value, bool e5m2, bool saturate) {
  return e5m2 ? ridge::simt::E5m2::narrow(value, saturate) : ridge::simt::E4m3::narrow(value, saturate);
}
float widen_fp8(std::uint8_t bits, bool e5m2) {
  return e5m2 ? ridge::simt::E5m2::widen(bits) : ridge::simt::E4m3::widen(bits);
}

}  // namespace ridge_simt
