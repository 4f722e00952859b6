// The threads in the engine: the one that runs operations, and those that wait for other ranks until something has
// moved. All calls are made with the engine's lock held.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "stream/operation.hpp"

namespace ridge::simt {

class Activity {
 public:
  using Lock = std::unique_lock<std::mutex>;

  // One thread runs operations at a time. begin() waits until no other thread does; false where the calling thread does
  // so already, inside a host function.
  bool begin(Lock& lock);
  void begin();  // does not wait: there is no runner
  void end();
  bool is_mine() const { return running_thread_.load() == std::this_thread::get_id(); }
  // Whether a thread runs operations, or will as soon as something has moved.
  bool has_runner() const { return running_thread_.load() != std::thread::id() || runners_ > 0; }

  // Rises with everything that runs or is asked for.
  std::uint64_t count() const { return count_; }
  void moved() { ++count_; }
  void asked();  // moved(), and threads that wait for other ranks look again
  void wake() { idle_.notify_all(); }

  // The running thread lets others run operations until something has moved or no exchange of `begun` is left.
  void wait_for_peers(Lock& lock, const std::vector<OperationPtr>& begun);
  // Waits, and lets other threads have the lock, until something has moved or `seconds` are over.
  void wait_for_arrival(Lock& lock, double seconds);

  int waiting_threads() const { return blocked_; }
  // Threads wait, and the last one to begin has seen all that has happened.
  bool waits_in_vain() const { return blocked_ > 0 && looked_ == count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t looked_ = 0;                       // count_ when a thread last began to wait
  int blocked_ = 0;                                // threads that wait for other ranks
  int runners_ = 0;                                // those of them that run operations once something has moved
  std::atomic<std::thread::id> running_thread_{};  // runs operations now
  std::condition_variable idle_;
};

}  // namespace ridge::simt
