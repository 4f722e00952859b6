// Seeded choices that are equal on all machines (splitmix64).
#pragma once
#include <cstdint>

namespace ridge::files {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }
  bool coin() { return (next() & 1) != 0; }

 private:
  std::uint64_t state_;
};

}  // namespace ridge::files
