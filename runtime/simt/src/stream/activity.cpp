#include "stream/activity.hpp"

#include <chrono>

namespace ridge::simt {

bool Activity::begin(Lock& lock) {
  while (running_thread_.load() != std::thread::id() && !is_mine()) idle_.wait(lock);
  if (is_mine()) return false;
  begin();
  return true;
}

void Activity::begin() { running_thread_ = std::this_thread::get_id(); }

void Activity::end() {
  running_thread_ = std::thread::id();
  wake();
}

void Activity::asked() {
  moved();
  if (blocked_ > 0) wake();
}

void Activity::wait_for_peers(Lock& lock, const std::vector<OperationPtr>& begun) {
  constexpr std::chrono::milliseconds kLook{100};
  const std::uint64_t before = count_;
  const auto since = std::chrono::steady_clock::now();
  running_thread_ = std::thread::id();
  looked_ = before;
  ++blocked_, ++runners_;
  wake();
  while (count_ == before && !begun.empty()) {
    if (idle_.wait_for(lock, kLook) == std::cv_status::no_timeout || begun.empty()) continue;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - since;
    if (count_ == before) begun.front()->exchange->stalled(waited.count());
  }
  --blocked_, --runners_;
  while (running_thread_.load() != std::thread::id()) idle_.wait(lock);
  begin();
}

void Activity::wait_for_arrival(Lock& lock, double seconds) {
  const std::uint64_t before = looked_ = count_;
  ++blocked_;
  idle_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return count_ != before; });
  --blocked_;
}

}  // namespace ridge::simt
