// Sobol's sequences (1967) with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), which
// Boost.Random has for 3667 dimensions. The plain sequences equal cuRAND's. The tables by which cuRAND scrambles are
// not published; the scrambling here is Matousek's (1998): a random linear map and a digital shift.
#include "random/inverse.hpp"

#if __has_include(<boost/random/sobol.hpp>)
#include <atomic>
#include <bit>
#include <boost/random/sobol.hpp>
#include <cstdio>
#include <vector>

namespace ridge::simt::random {
namespace {

using Table = boost::random::default_sobol_table;

template <class Bits>
class Sobol : public InverseGenerator<Bits> {
 public:
  explicit Sobol(bool scrambled) : scrambled_(scrambled) {}

  curandStatus_t reseed(unsigned long long) override { return CURAND_STATUS_TYPE_ERROR; }
  curandStatus_t order(curandOrdering_t order) const override {
    return order == CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
  }
  curandStatus_t dimensions(unsigned count) override {
    constexpr unsigned kMost = 20000;
    if (count == 0 || count > kMost) return CURAND_STATUS_OUT_OF_RANGE;
    if (count > Table::max_dimension) {
      std::fprintf(stderr, "ridge: cuRAND of the emulator has %u dimensions of Sobol's sequences, not %u\n",
                   Table::max_dimension, count);
      return CURAND_STATUS_ALLOCATION_FAILED;
    }
    dimensions_ = count;
    return CURAND_STATUS_SUCCESS;
  }
  bool whole(std::size_t n, bool) const override { return n % dimensions_ == 0; }
  bool quasi() const override { return true; }

 protected:
  // All points' first coordinates, then the second ones. Point i is the sum of the directions of its Gray code.
  void draw(Bits* out, std::size_t n) override {
    const std::size_t points = n / dimensions_;
    for (unsigned d = 0; d < dimensions_; ++d) {
      const std::vector<Bits> v = directions(d);
      const std::uint64_t gray = this->position ^ this->position >> 1;
      Bits x = scrambled_ ? static_cast<Bits>(mixed(d)) : 0;
      for (unsigned k = 0; k < kBits; ++k)
        if ((gray >> k & 1) != 0) x ^= v[k];
      for (std::size_t i = 0; i < points; ++i) {
        *out++ = x;
        const auto flips = static_cast<unsigned>(std::countr_one(this->position + i));
        if (flips < kBits) x ^= v[flips];
      }
    }
    this->position += points;
  }

 private:
  static constexpr unsigned kBits = sizeof(Bits) * 8;

  std::vector<Bits> directions(unsigned dimension) const {
    std::vector<Bits> v(kBits);
    for (unsigned k = 0; k < kBits; ++k) v[k] = Bits{1} << (kBits - 1 - k);
    if (dimension != 0) {
      const unsigned polynomial = Table::polynomial(dimension - 1);
      const unsigned degree = std::bit_width(polynomial) - 1;
      for (unsigned k = 0; k < kBits; ++k) {
        if (k < degree) {
          v[k] = static_cast<Bits>(Table::minit(dimension - 1, k)) << (kBits - 1 - k);
          continue;
        }
        v[k] = v[k - degree] ^ v[k - degree] >> degree;
        for (unsigned i = 1; i < degree; ++i)
          if ((polynomial >> (degree - i) & 1) != 0) v[k] ^= v[k - i];
      }
    }
    if (scrambled_) {
      const std::vector<Bits> plain = v;
      for (unsigned k = 0; k < kBits; ++k) {
        v[k] = 0;
        // A lower triangular matrix with ones on its diagonal: bit b changes itself and lower ones.
        for (unsigned b = 0; b < kBits; ++b)
          if ((plain[k] >> b & 1) != 0)
            v[k] ^= Bits{1} << b | (static_cast<Bits>(mixed((dimension + 1ull) << 8 | b)) & ((Bits{1} << b) - 1));
      }
    }
    return v;
  }

  // Steele et al. 2014: SplitMix64 as a hash.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
  }

  bool scrambled_;
  unsigned dimensions_ = 1;
};

}  // namespace

std::unique_ptr<curandGenerator_st> sobol(bool wide, bool scrambled) {
  static std::atomic<bool> said = false;
  if (scrambled && !said.exchange(true))
    std::fputs("ridge: cuRAND: the emulator scrambles Sobol's sequence in its own way: other numbers than a GPU's\n",
               stderr);
  if (wide) return std::make_unique<Sobol<std::uint64_t>>(scrambled);
  return std::make_unique<Sobol<std::uint32_t>>(scrambled);
}

}  // namespace ridge::simt::random

#else

namespace ridge::simt::random {
std::unique_ptr<curandGenerator_st> sobol(bool, bool) { return nullptr; }
}  // namespace ridge::simt::random

#endif
