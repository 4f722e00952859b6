// An mbarrier's 8 bytes: arrivals that a phase expects and that are still to come, bytes that are still to come, phase.
#pragma once
#include <cstdint>
#include <cstring>

namespace ridge::simt {

struct MbarrierWord {
  static constexpr unsigned kMost = (1u << 20) - 1;           // arrivals, and bytes
  static constexpr std::uint64_t kUnset = ~std::uint64_t{0};  // shared memory as a block finds it

  unsigned expected = 0, pending = 0, phase = 0;
  int bytes = 0;

  static MbarrierWord of(std::uint64_t w) {
    return {static_cast<unsigned>(w & kMost), static_cast<unsigned>(w >> 20 & kMost), static_cast<unsigned>(w >> 61),
            static_cast<int>(w >> 40 & 0x1FFFFF) - (1 << 20)};
  }
  std::uint64_t word() const {
    return expected | std::uint64_t{pending} << 20 |
           std::uint64_t{static_cast<unsigned>(bytes + (1 << 20)) & 0x1FFFFF} << 40 | std::uint64_t{phase & 7} << 61;
  }
  static std::uint64_t raw(const void* barrier) {
    std::uint64_t w;
    std::memcpy(&w, barrier, sizeof w);
    return w;
  }
  static MbarrierWord read(const void* barrier) { return of(raw(barrier)); }
  void write(void* barrier) const {
    const std::uint64_t w = word();
    std::memcpy(barrier, &w, sizeof w);
  }
  // The phase ends where all have come. True then.
  bool complete() {
    if (pending != 0 || bytes != 0) return false;
    pending = expected;
    ++phase;
    return true;
  }
};

}  // namespace ridge::simt
