// Distinguishes a block that polls memory for ever from one that waits for another block.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace ridge::simt {

class ProgressWatch {
 public:
  // A thread block of this process has come further: a barrier has opened, or the block has ended.
  static void note() { ++progress_; }

  void begin_block() { seen_ = ~std::uint64_t{0}; }
  // Time since this block last saw a block come further.
  std::chrono::steady_clock::duration idle() {
    const std::uint64_t now = progress_.load();
    if (now != seen_) {
      seen_ = now;
      since_ = std::chrono::steady_clock::now();
      return {};
    }
    return std::chrono::steady_clock::now() - since_;
  }

 private:
  static inline std::atomic<std::uint64_t> progress_{0};
  std::uint64_t seen_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace ridge::simt
