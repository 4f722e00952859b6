// grid.sync(): the blocks of a cooperative launch wait for each other.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ridge::simt {

class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : live_(blocks) {}
  // False where another block ended without coming here.
  bool wait() {
    std::unique_lock lock(mutex_);
    if (left_ || broken_) return false;
    const std::uint64_t generation = generation_;
    if (++waiting_ == live_) {
      waiting_ = 0;
      ++generation_;
      wake_.notify_all();
      return true;
    }
    wake_.wait(lock, [&] { return generation_ != generation || left_ || broken_; });
    return generation_ != generation;
  }
  // A block has ended.
  void leave(bool failed) {
    std::lock_guard lock(mutex_);
    --live_;
    if (failed) broken_ = true;
    if (waiting_ != 0) left_ = true;
    wake_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t live_, waiting_ = 0, generation_ = 0;
  bool broken_ = false, left_ = false;
};

}  // namespace ridge::simt
