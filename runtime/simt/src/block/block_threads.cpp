#include "block/block_threads.hpp"

namespace ridge::simt {

BlockThreads::BlockThreads()
    : threads_(kMaxThreadsPerBlock), waits_(kMaxThreadsPerBlock), paths_(kMaxThreadsPerBlock) {}

void BlockThreads::begin(Index3 shape, bool clear_instructions, bool clear_paths) {
  size_ = shape.x * shape.y * shape.z;
  if (shape != shape_) number(shape);
  for (unsigned i = 0; i < size_; ++i) {
    Thread& t = threads_[i];
    t.state = ThreadState::unstarted;
    t.slot = -1;
    t.spins = 0;
    t.polled = 0;
  }
  if (clear_instructions)
    for (unsigned i = 0; i < size_; ++i) threads_[i].instructions = 0;
  if (clear_paths)
    for (unsigned i = 0; i < size_; ++i) paths_[i].reset();
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
    if (linear < size_ && threads_[linear].state != ThreadState::done) mask |= 1u << l;
  }
  return mask;
}

}  // namespace ridge::simt
