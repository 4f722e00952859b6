// Uniform and normal numbers of generators that draw one integer for each: MT19937 and Sobol's sequences.
#pragma once

#include "random/generator.hpp"

namespace ridge::simt::random {

// A normal number with mean 0 and deviation 1, by the inverse of the distribution.
float inverse_normal(std::uint32_t bits);
double inverse_normal(std::uint32_t bits, double);
double inverse_normal(std::uint64_t bits, double);

// Bits are std::uint32_t or std::uint64_t.
template <class Bits>
class InverseGenerator : public curandGenerator_st {
 public:
  curandStatus_t integers(unsigned* out, std::size_t n) override {
    return sizeof(Bits) == 8 ? CURAND_STATUS_TYPE_ERROR : each(out, n, [](Bits x) { return static_cast<unsigned>(x); });
  }
  curandStatus_t integers(unsigned long long* out, std::size_t n) override {
    return sizeof(Bits) == 4 ? CURAND_STATUS_TYPE_ERROR : each(out, n, [](Bits x) { return std::uint64_t{x}; });
  }
  curandStatus_t uniform(float* out, std::size_t n) override {
    return each(out, n, [](Bits x) { return static_cast<float>(high(x)) * 0x1p-32f + 0x1p-33f; });
  }
  curandStatus_t uniform(double* out, std::size_t n) override {
    if constexpr (sizeof(Bits) == 4) return each(out, n, [](Bits x) { return x * 0x1p-32 + 0x1p-32; });
    return each(out, n, [](Bits x) { return static_cast<double>(std::uint64_t{x} >> 11) * 0x1p-53 + 0x1p-54; });
  }
  curandStatus_t normal(float* out, std::size_t n) override {
    return each(out, n, [](Bits x) { return inverse_normal(high(x)); });
  }
  curandStatus_t normal(double* out, std::size_t n) override {
    return each(out, n, [](Bits x) { return inverse_normal(x, 0.0); });
  }

 protected:
  // Draws n numbers in the order of the output, and moves on.
  virtual void draw(Bits* out, std::size_t n) = 0;

  template <class T, class Convert>
  curandStatus_t each(T* out, std::size_t n, Convert convert) {
    std::unique_ptr<Bits[]> drawn(new Bits[n]);
    draw(drawn.get(), n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(convert(drawn[i]));
    return CURAND_STATUS_SUCCESS;
  }

 private:
  static std::uint32_t high(Bits x) { return static_cast<std::uint32_t>(std::uint64_t{x} >> (sizeof(Bits) * 8 - 32)); }
};

}  // namespace ridge::simt::random
