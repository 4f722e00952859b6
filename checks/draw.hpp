// Numbers of a case, drawn one after the other from its seed.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "checks/fill.hpp"

namespace ridge::lab {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  int integer(int low, int high) {  // both included
    return low + static_cast<int>(random_bits(seed_, next_++) % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(random_bits(seed_, next_++) >> 11) * 0x1p-53;
  }
  template <class T, std::size_t N>
  T of(const T (&all)[N]) {
    return all[integer(0, static_cast<int>(N) - 1)];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(integer(0, static_cast<int>(i) - 1))]);
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

}  // namespace ridge::lab
