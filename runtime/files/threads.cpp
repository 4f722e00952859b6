#include "threads.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "request.hpp"

namespace ridge::files {

namespace {

// Jobs by ticket: their results, once they are there.
class Results {
 public:
  std::uint64_t add() {
    std::lock_guard lock(mutex_);
    all_[++last_] = {};
    return last_;
  }
  void set(std::uint64_t ticket, std::int64_t result) {
    std::lock_guard lock(mutex_);
    all_[ticket] = {true, result};
    changed_.notify_all();
  }
  std::int64_t take(std::uint64_t ticket) {
    std::unique_lock lock(mutex_);
    const auto found = all_.find(ticket);
    if (found == all_.end()) return -EINVAL;
    changed_.wait(lock, [&] { return found->second.first; });
    const std::int64_t result = found->second.second;
    all_.erase(found);
    return result;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::pair<bool, std::int64_t>> all_;
  std::uint64_t last_ = 0;
};

Results& results() {
  static auto* all = new Results;
  return *all;
}

// A queue that so many threads work at.
class Queue {
 public:
  explicit Queue(int threads) {
    for (int i = 0; i < threads; ++i) std::thread([this] { work(); }).detach();
  }
  std::uint64_t add(Job job) {
    const std::uint64_t ticket = results().add();
    std::lock_guard lock(mutex_);
    jobs_.emplace_back(ticket, std::move(job));
    added_.notify_one();
    return ticket;
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !jobs_.empty(); });
      const auto [ticket, job] = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      results().set(ticket, job());
    }
  }
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::pair<std::uint64_t, Job>> jobs_;
};

}  // namespace

std::uint64_t start_request(Job job) {
  static auto* queue = new Queue(kIoThreads);  // never destroyed: its threads use it
  return queue->add(std::move(job));
}

std::uint64_t start_on_thread_of(int core, Job job) {
  static std::mutex mutex;
  static auto* queues = new std::map<int, Queue*>;
  if (core < 0 || core >= cores_here()) return 0;
  Queue* queue = nullptr;
  {
    std::lock_guard lock(mutex);
    Queue*& q = (*queues)[core];
    if (q == nullptr) q = new Queue(1);
    queue = q;
  }
  return queue->add(std::move(job));
}

std::int64_t result_of(std::uint64_t ticket) { return results().take(ticket); }

int cores_here() {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                            : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(n, 1, kMostCores);
}

}  // namespace ridge::files
