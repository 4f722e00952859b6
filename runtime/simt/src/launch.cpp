// A launch: its blocks spread over the cores, its counts summed.
#include "launch.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "../simt.hpp"
#include "block.hpp"

namespace ridge::simt {

namespace {

// OS threads that run blocks. They live as long as the program; kernels never run on the host's own thread, so that
// its thread-locals are not taken for shared memory.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  // Runs all blocks of `launch`; returns false after a fault.
  bool run(const Launch& launch, KernelCounters& counters) {
    std::unique_lock lock(mutex_);
    start_threads();
    launch_ = &launch;
    total_ = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    sums_.clear();
    running_ = threads_.size();
    ++generation_;
    wake_.notify_all();
    idle_.wait(lock, [&] { return running_ == 0; });
    for (const auto& sum : sums_) counters.add(sum);
    return !failed_.load();
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& t : threads_) t.join();
  }

 private:
  void start_threads() {
    if (!threads_.empty()) return;
    unsigned n = std::thread::hardware_concurrency();
    if (const char* text = std::getenv("RIDGE_WORKERS")) n = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    if (n == 0) n = 1;
    for (unsigned i = 0; i < n; ++i) threads_.emplace_back([this] { work(); });
  }

  void work() {
    BlockRunner runner;
    std::uint64_t seen = 0;
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      const Launch& launch = *launch_;
      const std::uint64_t total = total_;
      lock.unlock();

      KernelCounters sum;
      while (!failed_.load(std::memory_order_relaxed)) {
        std::uint64_t b = next_.fetch_add(1, std::memory_order_relaxed);
        if (b >= total) break;
        Index3 index{static_cast<unsigned>(b % launch.grid.x), static_cast<unsigned>(b / launch.grid.x % launch.grid.y),
                     static_cast<unsigned>(b / launch.grid.x / launch.grid.y)};
        if (!runner.run(launch, index, sum)) failed_.store(true);
      }

      lock.lock();
      sums_.push_back(std::move(sum));
      if (--running_ == 0) idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::vector<std::thread> threads_;
  std::vector<KernelCounters> sums_;
  const Launch* launch_ = nullptr;
  std::uint64_t total_ = 0, generation_ = 0;
  std::size_t running_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  bool stop_ = false;
};

std::uint64_t order_from_environment() {
  const char* text = std::getenv("RIDGE_LANE_ORDER");
  if (text == nullptr) return 1;
  if (std::strcmp(text, "forward") == 0) return 0;
  return std::strtoull(text, nullptr, 10);
}

// Finished launches, and where they go when the program ends.
struct Recorder {
  std::mutex mutex;
  bool on = std::getenv("RIDGE_COUNTERS") != nullptr;
  std::uint64_t order = order_from_environment();
  std::vector<LaunchRecord> launches;

  ~Recorder() {
    const char* target = std::getenv("RIDGE_COUNTERS");
    if (target == nullptr || launches.empty()) return;
    if (std::strcmp(target, "1") == 0) {
      std::fputs(launches_table(launches).c_str(), stderr);
    } else if (FILE* f = std::fopen(target, "w")) {
      std::fputs(launches_json(launches).c_str(), f);
      if (std::fclose(f) != 0) std::perror(target);
    } else {
      std::fprintf(stderr, "ridge: cannot write RIDGE_COUNTERS to ");
      std::perror(target);
    }
  }
};

Recorder& recorder() {
  static Recorder r;
  return r;
}

}  // namespace

LaunchOutcome run_launch(const LaunchConfig& config, void (*run)(void*), void* closure, std::size_t closure_bytes) {
  Recorder& rec = recorder();
  Launch launch{config.kernel, config.grid, config.block, config.dynamic_shared, run, closure, closure_bytes, rec.on,
                rec.order};
  LaunchOutcome outcome;
  outcome.ok = Pool::instance().run(launch, outcome.counters);
  if (rec.on) {
    std::lock_guard lock(rec.mutex);
    rec.launches.push_back({config.kernel,
                            {config.grid.x, config.grid.y, config.grid.z},
                            {config.block.x, config.block.y, config.block.z},
                            config.dynamic_shared,
                            outcome.counters});
  }
  return outcome;
}

void start_counting() { recorder().on = true; }
void set_recording(bool on) { recorder().on = on; }
void set_order(std::uint64_t seed) { recorder().order = seed; }

std::vector<LaunchRecord> take_launches() {
  std::lock_guard lock(recorder().mutex);
  return std::exchange(recorder().launches, {});
}

void* map_buffer(int fd, std::size_t bytes, bool writable) { return DeviceMemory::instance().map(fd, bytes, writable); }

}  // namespace ridge::simt
