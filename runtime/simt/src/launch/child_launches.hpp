// Kernels that kernels launch (dynamic parallelism).
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "launch/launch.hpp"

namespace ridge::simt {

struct ChildLaunch {
  LaunchConfig config;
  void (*run)(void*);
  std::shared_ptr<void> closure;
  std::size_t closure_bytes;
  bool tail;                    // behind the whole grid: cudaStreamTailLaunch
  std::uint64_t block, thread;  // who launched it
};

// Those of one grid. They run when its blocks have ended, in the order of blocks and threads, and the grid has ended
// when they have: one of the orders that a GPU may take, and the same in every run.
class ChildLaunches {
 public:
  void add(ChildLaunch child) {
    std::lock_guard lock(mutex_);
    all_.push_back(std::move(child));
  }
  std::vector<ChildLaunch> take() {
    std::stable_sort(all_.begin(), all_.end(), [](const ChildLaunch& a, const ChildLaunch& b) {
      return std::tie(a.tail, a.block, a.thread) < std::tie(b.tail, b.block, b.thread);
    });
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<ChildLaunch> all_;
};

}  // namespace ridge::simt
