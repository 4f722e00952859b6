// MT19937 (Matsumoto and Nishimura 1998) in cuRAND's order. Eight adjacent numbers come from one of 8192 states,
// and the states are 2^2048 numbers apart. This distance and the order of a state's 624 words were found by
// comparison with the output of cuRAND 13's generator for the host.
#include <vector>

#include "random/inverse.hpp"
#include "random/jump.hpp"

namespace ridge::simt::random {
namespace {

constexpr unsigned kStates = 8192, kLanes = 8, kRow = kStates * kLanes, kRows = kMersenneWords / kLanes;

// Which of a state's 624 words is the number of `lane` in a row of the output.
unsigned word_of(unsigned row, unsigned lane) {
  static constexpr unsigned kFirst[kLanes] = {0, 113, 170, 283, 340, 397, 510, 567};
  static constexpr unsigned kBlock[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
  return row == 0 ? kFirst[lane] : kBlock[(row - 1) / 7] + 7 * lane + (row - 1) % 7;
}

std::uint32_t tempered(std::uint32_t x) {
  x ^= x >> 11;
  x ^= x << 7 & 0x9d2c5680u;
  x ^= x << 15 & 0xefc60000u;
  return x ^ x >> 18;
}

class Mersenne : public InverseGenerator<std::uint32_t> {
 public:
  curandStatus_t uniform(float* out, std::size_t n) override {
    return each(out, n, [](std::uint32_t x) { return unit(x); });
  }
  curandStatus_t uniform(double* out, std::size_t n) override {
    return each(out, n, [](std::uint32_t x) { return unit(x); });
  }
  // Another seed begins anew; the same one goes on, as cuRAND's does.
  curandStatus_t reseed(unsigned long long to) override {
    if (to == seed) return CURAND_STATUS_SUCCESS;
    states_.clear();
    position = 0;
    return InverseGenerator::reseed(to);
  }
  curandStatus_t move_to(unsigned long long) override { return CURAND_STATUS_TYPE_ERROR; }
  curandStatus_t order(curandOrdering_t order) const override {
    return order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                   order == CURAND_ORDERING_PSEUDO_LEGACY
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_OUT_OF_RANGE;
  }
  bool whole(std::size_t, bool) const override { return true; }

 protected:
  void draw(std::uint32_t* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i, ++position) {
      const auto in_row = static_cast<unsigned>(position % kRow);
      const std::uint64_t row = position / kRow;
      State& state = at(in_row / kLanes);
      for (; state.blocks <= row / kRows; ++state.blocks) mersenne_next(state.words);
      out[i] = tempered(state.words[word_of(static_cast<unsigned>(row % kRows), in_row % kLanes)]);
    }
  }

 private:
  struct State {
    MersenneState words;
    std::uint64_t blocks = 0;  // of 624 words that were made
  };

  static double unit(std::uint32_t x) { return x * 0x1p-32 + 0x1p-33; }

  State& at(unsigned which) {
    while (states_.size() <= which) {
      start_ = states_.empty() ? seeded() : mersenne_jump(start_);
      states_.push_back({start_});
    }
    return states_[which];
  }

  // The initialisation that the generator's authors published in 2002.
  MersenneState seeded() const {
    MersenneState words{};
    words[0] = static_cast<std::uint32_t>(seed);
    for (unsigned i = 1; i < kMersenneWords; ++i) words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + i;
    return words;
  }

  std::vector<State> states_;
  MersenneState start_{};  // of the last state
};

}  // namespace

std::unique_ptr<curandGenerator_st> mersenne() { return std::make_unique<Mersenne>(); }

}  // namespace ridge::simt::random
