#include "block/grid_barrier.hpp"

namespace ridge::simt {

bool GridBarrier::wait() {
  std::unique_lock lock(mutex_);
  if (left_ || broken_) return false;
  std::uint64_t generation = generation_;
  if (++waiting_ == live_) {
    waiting_ = 0;
    ++generation_;
    wake_.notify_all();
    return true;
  }
  wake_.wait(lock, [&] { return generation_ != generation || left_ || broken_; });
  return generation_ != generation;
}

void GridBarrier::leave(bool failed) {
  std::lock_guard lock(mutex_);
  --live_;
  if (failed) broken_ = true;
  if (waiting_ != 0) left_ = true;
  wake_.notify_all();
}

}  // namespace ridge::simt
