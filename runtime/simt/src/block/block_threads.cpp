#include "block/block_threads.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::simt {

BlockThreads::BlockThreads()
    : threads_(kMaxThreadsPerBlock), waits_(kMaxThreadsPerBlock), paths_(kMaxThreadsPerBlock) {}

void BlockThreads::begin(Index3 shape, bool clear_instructions, bool clear_paths) {
  size_ = shape.x * shape.y * shape.z;
  if (shape != shape_) number(shape);
  std::fill_n(states_.begin(), size_, ThreadState::unstarted);
  std::fill(states_.begin() + size_, states_.begin() + warps() * kWarpSize, ThreadState::done);
  if (clear_instructions)
    for (unsigned i = 0; i < size_; ++i) threads_[i].instructions = 0;
  if (clear_paths)
    for (unsigned i = 0; i < size_; ++i) paths_[i].reset();
}

// Eight states at a time, each below 128.
static constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = 0x7F * kOnes;
static_assert(static_cast<unsigned>(ThreadState::unstarted) == 0 && static_cast<unsigned>(ThreadState::ready) == 1);

void BlockThreads::release(ThreadState waiting) {
  const std::uint64_t wanted = static_cast<unsigned>(waiting) * kOnes;
  for (unsigned i = 0; i < size_; i += 8) {
    std::uint64_t states;
    std::memcpy(&states, &states_[i], 8);
    const std::uint64_t equal = ~((states ^ wanted) + kLow) >> 7 & kOnes;  // bit 8 k: state i + k
    states = (states & ~(equal * 0xFF)) | equal;
    std::memcpy(&states_[i], &states, 8);
  }
}

unsigned BlockThreads::runnable(unsigned warp) const {
  constexpr std::uint64_t kAboveOne = 0xFE * kOnes;
  unsigned mask = 0;
  for (unsigned l = 0; l < kWarpSize; l += 8) {
    std::uint64_t states;
    std::memcpy(&states, &states_[warp * kWarpSize + l], 8);
    const std::uint64_t can = ~((states & kAboveOne) + kLow) >> 7 & kOnes;  // bit 8 i: state i
    mask |= static_cast<unsigned>(can * 0x0102040810204080 >> 56) << l;
  }
  return mask;
}

std::uint64_t BlockThreads::most_instructions() const {
  std::uint64_t most = 0;
  for (unsigned i = 0; i < size_; ++i) most = std::max<std::uint64_t>(most, threads_[i].instructions);
  return most;
}

void BlockThreads::number(Index3 shape) {
  shape_ = shape;
  Index3 at{0, 0, 0};
  for (unsigned i = 0; i < size_; ++i) {
    threads_[i].index = at;
    threads_[i].linear = i;
    if (++at.x == shape.x) {
      at.x = 0;
      if (++at.y == shape.y) {
        at.y = 0;
        ++at.z;
      }
    }
  }
}

unsigned BlockThreads::live_lanes(unsigned warp) const {
  unsigned mask = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const unsigned linear = warp * kWarpSize + l;
    if (linear < size_ && states_[linear] != ThreadState::done) mask |= 1u << l;
  }
  return mask;
}

}  // namespace ridge::simt
