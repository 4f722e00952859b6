// The threads of the block that runs, by linear index and by lane.
#pragma once
#include <array>
#include <vector>

#include "block/thread.hpp"
#include "count/path.hpp"
#include "count/requests.hpp"
#include "fiber/fiber.hpp"

namespace ridge::simt {

class BlockThreads {
 public:
  BlockThreads();
  // Every thread of a block of this shape is unstarted.
  void begin(Index3 shape, bool clear_instructions, bool clear_paths);
  std::uint64_t most_instructions() const;  // of one thread, since the counts were cleared

  unsigned size() const { return size_; }
  unsigned warps() const { return (size_ + kWarpSize - 1) / kWarpSize; }
  Thread& operator[](unsigned linear) { return threads_[linear]; }
  const Thread& operator[](unsigned linear) const { return threads_[linear]; }
  Thread* begin() { return threads_.data(); }
  Thread* end() { return threads_.data() + size_; }

  // Null beyond the last thread of a partial warp.
  Thread* lane(unsigned warp, unsigned l) {
    const unsigned linear = warp * kWarpSize + l;
    return linear < size_ ? &threads_[linear] : nullptr;
  }
  // Mask of the lanes that have a thread.
  unsigned lanes(unsigned warp) const {
    const unsigned threads = size_ - warp * kWarpSize;
    return threads >= kWarpSize ? ~0u : (1u << threads) - 1;
  }
  // Mask of the lanes whose thread has not ended.
  unsigned live_lanes(unsigned warp) const;

  ThreadState& state(unsigned linear) { return states_[linear]; }
  ThreadState& state(const Thread& t) { return states_[t.linear]; }
  ThreadState state(const Thread& t) const { return states_[t.linear]; }
  // Valid while the thread waits.
  Fiber& fiber(unsigned linear) { return fibers_[linear]; }
  // Threads that wait like this can go on.
  void release(ThreadState waiting);
  // Mask of the lanes that can go on: unstarted or ready.
  unsigned runnable(unsigned warp) const;

  Wait& wait_of(const Thread& t) { return waits_[t.linear]; }
  const Wait& wait_of(const Thread& t) const { return waits_[t.linear]; }
  Path& path_of(const Thread& t) { return paths_[t.linear]; }
  const Path& path_of(const Thread& t) const { return paths_[t.linear]; }

 private:
  void number(Index3 shape);
  // By linear index, and apart: what barriers and ends of threads read stays compact.
  std::array<ThreadState, kMaxThreadsPerBlock> states_{};  // `done` beyond the last thread, in its warp
  std::array<Fiber, kMaxThreadsPerBlock> fibers_;
  std::vector<Thread> threads_;
  std::vector<Wait> waits_;
  std::vector<Path> paths_;
  unsigned size_ = 0;
  Index3 shape_{0, 0, 0};  // the block's shape when the threads were numbered
};

}  // namespace ridge::simt
