// A launch: its blocks spread over the cores, its counts summed.
#include "launch/launch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "block/block.hpp"
#include "count/warp_log.hpp"
#include "device/memory.hpp"
#include "hooks/probe.hpp"
#include "launch/child_launches.hpp"
#include "launch/cluster_run.hpp"
#include "launch/launch_record.hpp"
#include "launch/time_model.hpp"

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
  bool run(Launch& launch, KernelCounters& counters, bool cooperative) {
    std::unique_lock lock(mutex_);
    if (launch.cluster != Index3{1, 1, 1}) return run_clusters(launch, counters);
    if (cooperative) return run_together(launch, counters);
    start_threads();
    launch_ = &launch;
    total_ = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    launch.failed = &failed_;
    sums_.clear();
    running_ = threads_.size();
    // The sanitizer runs one block after another.
    const bool in_drawn_order = launch.order > 1 && !launch.sanitize;
    if (in_drawn_order && total_ > 1) {
      launch.more = [this] { add_helper(kTogether); };
      if (!launch.record) launch.hold = [this] { hold(); };  // counts have one order, whatever a machine's pace
    }
    ++generation_;
    wake_.notify_all();
    idle_.wait(lock, [&] { return running_ == 0; });
    lock.unlock();
    for (std::thread& t : helpers_) t.join();  // they end as the others do: when no block is left
    lock.lock();
    helpers_.clear();
    for (const auto& sum : sums_) counters.add(sum);
    return !failed_.load();
  }

  void allow_holds() { held_.store(0, std::memory_order_relaxed); }

  // A cooperative launch: every block on an OS thread of its own, since each waits for all others. They start in drawn
  // order, too.
  bool run_together(Launch& launch, KernelCounters& counters) {
    std::uint64_t total = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    GridBarrier barrier(total);
    launch.grid_barrier = &barrier;
    std::atomic<bool> failed{false};
    std::mutex sum_mutex;
    std::vector<std::thread> threads;
    for (std::uint64_t b = 0; b < total; ++b)
      threads.emplace_back([&, b] {
        auto runner = std::make_unique<BlockRunner>();
        KernelCounters sum;
        const std::uint64_t at = launch.order > 1 ? drawn(b, total, launch.order) : b;
        bool ok = runner->run(launch, index_of(at, launch.grid), sum);
        barrier.leave(!ok);
        if (!ok) failed = true;
        std::lock_guard sum_lock(sum_mutex);
        counters.add(sum);
      });
    for (auto& t : threads) t.join();
    return !failed;
  }

  // Each block of a cluster has an OS thread, and they take turns; clusters run side by side.
  bool run_clusters(Launch& launch, KernelCounters& counters) {
    const Index3 c = launch.cluster, grid = launch.grid;
    const Index3 clusters = {grid.x / c.x, grid.y / c.y, grid.z / c.z};
    const unsigned size = c.x * c.y * c.z;
    const std::uint64_t total = std::uint64_t{clusters.x} * clusters.y * clusters.z;
    GridBarrier barrier(total * size);
    if (launch.cooperative) launch.grid_barrier = &barrier;
    // The sanitizer runs one cluster after another.
    const std::uint64_t together = launch.cooperative ? total
                                   : launch.sanitize  ? 1
                                                      : std::min<std::uint64_t>(workers(), total);
    std::atomic<std::uint64_t> next{0};
    std::vector<KernelCounters> sums(together * size);
    std::vector<std::unique_ptr<ClusterRun>> runs;
    std::vector<std::thread> threads;
    std::atomic<bool> failed{false};
    launch.failed = &failed;
    for (std::uint64_t g = 0; g < together; ++g) {
      runs.push_back(std::make_unique<ClusterRun>(size, launch.block.x * launch.block.y * launch.block.z));
      for (unsigned rank = 0; rank < size; ++rank)
        threads.emplace_back([&, g, rank] {
          ClusterRun& run = *runs[g];
          auto runner = std::make_unique<BlockRunner>();
          runner->set_cluster(&run, rank);
          run.join(rank, *runner);
          for (std::uint64_t at; (at = run.begin(rank, next, total, failed)) < total;) {
            const Index3 first = index_of(at, clusters), in = index_of(rank, c);
            const bool ok = runner->run(launch, {first.x * c.x + in.x, first.y * c.y + in.y, first.z * c.z + in.z},
                                        sums[g * size + rank]);
            if (launch.cooperative) barrier.leave(!ok);
            if (!ok) failed = true;
            run.end(rank, ok);
          }
          run.leave();
        });
    }
    for (auto& t : threads) t.join();
    for (const KernelCounters& sum : sums) counters.add(sum);
    return !failed;
  }

  // On a GPU blocks that fit at a time start in any order. With seeds above 1, groups of kTogether are turned around
  // and go up or down; the groups follow each other, so that a block can wait for those long before it.
  static std::uint64_t drawn(std::uint64_t b, std::uint64_t total, std::uint64_t seed) {
    const std::uint64_t bits = seed * 0x9E3779B97F4A7C15ull >> 16, first = b - b % kTogether;
    const std::uint64_t group = std::min(total - first, kTogether), turned = (b - first + bits / 2) % group;
    return first + (bits % 2 == 0 ? turned : group - 1 - turned);
  }

  static Index3 index_of(std::uint64_t b, Index3 grid) {
    return {static_cast<unsigned>(b % grid.x), static_cast<unsigned>(b / grid.x % grid.y),
            static_cast<unsigned>(b / grid.x / grid.y)};
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
  static unsigned workers() {
    unsigned n = std::thread::hardware_concurrency();
    if (const char* text = std::getenv("RIDGE_WORKERS")) n = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    return n == 0 ? 1 : n;
  }

  void start_threads() {
    if (!threads_.empty()) return;
    const unsigned n = workers();
    try {
      for (unsigned i = 0; i < n; ++i) threads_.emplace_back([this, i] { work(i == 0); });
    } catch (const std::system_error&) {  // a limit of this machine: fewer do as well, with the same counts
      if (threads_.empty()) throw;
    }
  }

  void work(bool first) {
    BlockRunner runner;
    std::uint64_t seen = 0;
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      const Launch& launch = *launch_;
      lock.unlock();

      KernelCounters sum;
      // The sanitizer compares memory before and after a store: one block after another.
      if (first || !launch.sanitize) run_blocks(launch, runner, sum);

      lock.lock();
      sums_.push_back(std::move(sum));
      if (--running_ == 0) idle_.notify_all();
    }
  }

  void run_blocks(const Launch& launch, BlockRunner& runner, KernelCounters& sum) {
    const std::uint64_t total = total_;
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::uint64_t b = next_.fetch_add(1, std::memory_order_relaxed);
      if (b >= total) return;
      const std::uint64_t at = launch.more ? drawn(b, total, launch.order) : b;
      if (!runner.run(launch, index_of(at, launch.grid), sum)) failed_.store(true);
    }
  }

  // A block polls, perhaps for one of its group that has not begun, or is held.
  void add_helper(std::size_t most) {
    std::lock_guard lock(mutex_);
    if (running_ == 0 || helpers_.size() + 1 >= most || next_.load(std::memory_order_relaxed) >= total_) return;
    try {
      helpers_.emplace_back([this] {
        auto runner = std::make_unique<BlockRunner>();
        KernelCounters sum;
        run_blocks(*launch_, *runner, sum);
        std::lock_guard own(mutex_);
        sums_.push_back(std::move(sum));
      });
    } catch (const std::system_error&) {  // as in start_threads
    }
  }

  // Keeps a block from going on until kAhead more blocks have begun, and a moment longer, in which they look at what it
  // has published so far. The number of holds is limited until the next allow_holds().
  void hold() {
    constexpr std::uint64_t kAhead = 12, kMostHeld = 96;
    constexpr std::chrono::microseconds kStep(200), kMoment(1000), kPatience(5000);
    if (held_.fetch_add(1, std::memory_order_relaxed) >= kMostHeld) return;
    add_helper(kAhead);
    const std::uint64_t until = std::min(next_.load(std::memory_order_relaxed) + kAhead, total_);
    for (auto waited = std::chrono::microseconds::zero(); waited < kPatience && next_.load() < until; waited += kStep)
      std::this_thread::sleep_for(kStep);
    std::this_thread::sleep_for(kMoment);
  }

  static constexpr std::uint64_t kTogether = 8;  // blocks
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::vector<std::thread> threads_, helpers_;
  std::vector<KernelCounters> sums_;
  const Launch* launch_ = nullptr;
  std::uint64_t total_ = 0, generation_ = 0;
  std::size_t running_ = 0;
  std::atomic<std::uint64_t> next_{0}, held_{0};
  std::atomic<bool> failed_{false};
  bool stop_ = false;
};

// Finished launches, and where they go when the program ends.
struct Records {
  std::mutex mutex;
  bool on = std::getenv("RIDGE_COUNTERS") != nullptr || WarpRecords::in_environment();
  std::uint64_t order = order_from_environment();
  std::vector<LaunchRecord> launches;

  Records() { WarpRecords::set(WarpRecords::in_environment()); }
  ~Records() {
    WarpRecords::write();
    const char* target = std::getenv("RIDGE_COUNTERS");
    if (target == nullptr || launches.empty()) return;
    if (std::strcmp(target, "1") == 0) {
      std::fputs(launches_table(launches).c_str(), stderr);
    } else if (FILE* f = std::fopen(target, "w")) {
      std::fputs(launches_json(launches, true).c_str(), f);
      if (std::fclose(f) != 0) std::perror(target);
    } else {
      std::fprintf(stderr, "ridge: cannot write RIDGE_COUNTERS to ");
      std::perror(target);
    }
  }
};

Records& recorder() {
  static Records r;
  return r;
}

// The L1 that a block finds: what shared memory leaves of the SM. Resident blocks share it, and mostly read what their
// neighbours read.
std::size_t l1_size(const LaunchConfig& config, const KernelResources& resources) {
  const DeviceProfile& p = device_profile();
  const std::size_t shared = config.dynamic_shared + resources.static_shared;
  const Occupancy o =
      theoretical_occupancy(p, config.block.x * config.block.y * config.block.z, shared, resources.registers);
  const double used = o.blocks_per_sm * (static_cast<double>(shared) + (shared != 0 ? p.shared_reserved_per_block : 0));
  constexpr double kLeast = 16 * 1024;
  return static_cast<std::size_t>(std::max(p.l1_bytes - used, kLeast));
}

std::atomic<bool> child_launches{true};

LaunchOutcome run_grid(const LaunchConfig& config, void (*run)(void*), void* closure, std::size_t closure_bytes,
                       ChildLaunches* children) {
  static std::uint64_t serial = 0;
  install_crash_handler();
  Records& rec = recorder();
  LaunchOutcome outcome;
  if (rec.on) outcome.resources = resources_of(kernel_of(run, closure));
  if (Footprint::enabled()) outcome.footprint = std::make_shared<Footprint>();
  Launch launch{.kernel = config.kernel,
                .grid = config.grid,
                .block = config.block,
                .dynamic_shared = config.dynamic_shared,
                .run = run,
                .closure = closure,
                .closure_bytes = closure_bytes,
                .record = rec.on,
                .sanitize = Sanitizer::enabled(),
                .divergent_barriers = child_launches && std::getenv("RIDGE_DIVERGENT_BARRIERS") != nullptr,
                .footprint = outcome.footprint.get(),
                .order = rec.order,
                .serial = ++serial,
                .l1_bytes = l1_size(config, outcome.resources),
                .device = config.device,
                .reachable = config.reachable,
                .l2 = rec.on ? &L2Model::of(config.device) : nullptr,
                .cluster = config.cluster,
                .cooperative = config.cooperative,
                .warps = rec.on && WarpRecords::on(),
                .children = children};
  if (launch.record) launch.l2->begin_launch();
  outcome.ok = Pool::instance().run(launch, outcome.counters, config.cooperative);
  if (launch.record) {
    outcome.counters.l2_bytes = launch.l2->l2_bytes();
    outcome.counters.dram_bytes = launch.l2->dram_bytes();
    outcome.counters.link_read = launch.l2->link_read();
    outcome.counters.link_written = launch.l2->link_written();
    if (launch.warps)
      WarpRecords::add(config.kernel, {config.grid.x, config.grid.y, config.grid.z},
                       {config.block.x, config.block.y, config.block.z}, config.dynamic_shared,
                       outcome.resources.static_shared, outcome.counters, closure, closure_bytes);
    std::lock_guard lock(rec.mutex);
    rec.launches.push_back({config.kernel,
                            {config.grid.x, config.grid.y, config.grid.z},
                            {config.block.x, config.block.y, config.block.z},
                            config.dynamic_shared,
                            outcome.resources,
                            outcome.counters});
  }
  return outcome;
}

// What a child launches has ended before the next child of the same grid begins.
bool run_children(ChildLaunches& children, LaunchOutcome& outcome, unsigned depth) {
  constexpr unsigned kDeepest = 24;  // levels, as on a GPU
  for (const ChildLaunch& child : children.take()) {
    if (depth == kDeepest) {
      std::fprintf(stderr, "ridge: %s is launched by kernels %u levels deep, and %u is the most: not run\n",
                   child.config.kernel, depth, kDeepest);
      return true;
    }
    ChildLaunches own;
    const LaunchOutcome grid = run_grid(child.config, child.run, child.closure.get(), child.closure_bytes, &own);
    outcome.children.push_back({child.config, grid.resources, grid.counters});
    if (outcome.footprint && grid.footprint) outcome.footprint->merge(*grid.footprint);
    if (!grid.ok || !run_children(own, outcome, depth + 1)) return false;
  }
  return true;
}

}  // namespace

LaunchOutcome run_launch(const LaunchConfig& config, void (*run)(void*), void* closure, std::size_t closure_bytes) {
  ChildLaunches children;
  LaunchOutcome outcome = run_grid(config, run, closure, closure_bytes, child_launches ? &children : nullptr);
  outcome.ok = outcome.ok && run_children(children, outcome, 1);
  return outcome;
}

void allow_child_launches(bool allowed) {
  child_launches = allowed;
  if (!allowed) DeviceMemory::instance().set_fill(0xFF);
}

std::uint64_t order_from_environment() {
  const char* text = std::getenv("RIDGE_LANE_ORDER");
  if (text == nullptr) return 1;
  return std::strcmp(text, "forward") == 0 ? 0 : std::strtoull(text, nullptr, 10);
}

void start_counting() { recorder().on = true; }
void set_recording(bool on) { recorder().on = on; }
void set_lane_order(std::uint64_t seed) {
  recorder().order = seed;
  Pool::instance().allow_holds();
}

std::vector<LaunchRecord> take_finished_launches() {
  std::lock_guard lock(recorder().mutex);
  return std::exchange(recorder().launches, {});
}

}  // namespace ridge::simt
