#include "count/warp_log.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "count/warp_json.hpp"
#include "device/memory.hpp"

namespace ridge::simt {

namespace {

bool earlier(const WarpLog::Kept& a, const WarpLog::Kept& b) { return a.when < b.when; }
bool costlier(const WarpLog::Kept& a, const WarpLog::Kept& b) {
  return a.cost() != b.cost() ? a.cost() > b.cost() : a.when < b.when;
}
bool sooner(const WarpLog::Run& a, const WarpLog::Run& b) { return a.when < b.when; }
bool fewer(const WarpLog::Run& a, const WarpLog::Run& b) {
  const int x = std::popcount(a.lanes), y = std::popcount(b.lanes);
  return x != y ? x < y : a.when < b.when;
}

// Keeps the `most` first elements by `before`.
template <class T, class Before>
void keep(std::vector<T>& list, const T& item, std::size_t most, Before before) {
  if (list.size() == most && !before(item, list.back())) return;
  list.insert(std::upper_bound(list.begin(), list.end(), item, before), item);
  if (list.size() > most) list.pop_back();
}

}  // namespace

void WarpLog::request(const Request& r, const AccessCount& c, unsigned warp) {
  const WarpMoment when{0, warp, block_, requests_[warp % kMaxWarps]++};
  Access& a = accesses[(r.where & ~std::uint64_t{0xFF}) | static_cast<std::uint64_t>(r.op())];
  // Most requests are neither early nor dear: they are turned away before they are copied.
  const bool first = a.first.size() < kFirst || when < a.first.back().when;
  const std::uint64_t cost = c.sectors + c.wavefronts;
  const bool worst = a.worst.size() < kWorst || cost > a.worst.back().cost() ||
                     (cost == a.worst.back().cost() && when < a.worst.back().when);
  if (!first && !worst) return;
  Kept kept{when, r.path, r, c};
  if (first) keep(a.first, kept, kFirst, earlier);
  if (worst) keep(a.worst, kept, kWorst, costlier);
}

void WarpLog::run(std::uint64_t record, std::uint64_t path, std::uint32_t lanes, std::uint32_t all, unsigned warp) {
  const Run run{{0, warp, block_, runs_[warp % kMaxWarps]++}, path, lanes};
  BlockRuns& b = blocks[record];
  ++b.runs;
  b.lanes += static_cast<std::uint64_t>(std::popcount(lanes));
  keep(b.first, run, kFirst, sooner);
  if (lanes == all) return;
  ++b.partial;
  keep(b.fewest, run, kWorst, fewer);
}

void WarpLog::merge(const WarpLog& other) {
  for (const auto& [key, from] : other.accesses) {
    Access& to = accesses[key];
    for (const Kept& k : from.first) keep(to.first, k, kFirst, earlier);
    for (const Kept& k : from.worst) keep(to.worst, k, kWorst, costlier);
  }
  for (const auto& [key, from] : other.blocks) {
    BlockRuns& to = blocks[key];
    to.runs += from.runs;
    to.lanes += from.lanes;
    to.partial += from.partial;
    for (const Run& r : from.first) keep(to.first, r, kFirst, sooner);
    for (const Run& r : from.fewest) keep(to.fewest, r, kWorst, fewer);
  }
}

void WarpLog::number_launch(std::uint32_t launch) {
  for (auto& [key, a] : accesses) {
    for (Kept& k : a.first) k.when.launch = launch;
    for (Kept& k : a.worst) k.when.launch = launch;
  }
  for (auto& [key, b] : blocks) {
    for (Run& r : b.first) r.when.launch = launch;
    for (Run& r : b.fewest) r.when.launch = launch;
  }
}

bool WarpRecords::in_environment() { return std::getenv("RIDGE_WARP") != nullptr; }

namespace {

constexpr std::size_t kMaxKernels = 32;  // in their shapes

struct All {
  std::mutex mutex;
  std::vector<std::unique_ptr<WarpKernel>> kernels;
  std::uint64_t left_out = 0;  // launches of kernels beyond kMaxKernels
};

All& all() {
  static All* a = new All;  // written at the very end, after other statics are gone
  return *a;
}

// Finds the launch's argument that points into `m`. The arguments lie in the closure in their order.
void find_argument(WarpKernel& k, WarpKernel::Memory& m, const void* closure, std::size_t bytes) {
  DeviceMemory& memory = DeviceMemory::instance();
  k.pointers = 0;
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(closure) + at, sizeof word);
    if (!memory.contains(word)) continue;
    if (m.argument < 0 && word - memory.base() - m.begin < m.bytes) m.argument = k.pointers;
    ++k.pointers;
  }
}

void find_memory(WarpKernel& k, WarpLog::Kept& kept, const void* closure, std::size_t bytes) {
  if (kept.memory >= 0 || !is_global(kept.request.op())) return;
  const std::uint64_t address = kept.request.address[std::countr_zero(kept.request.lanes) % kWarpSize];
  if (address >= DeviceMemory::kReserve) return;  // a __device__ variable
  for (std::size_t i = 0; i < k.memory.size(); ++i)
    if (address - k.memory[i].begin < k.memory[i].bytes) {
      kept.memory = static_cast<std::int32_t>(i);
      return;
    }
  DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* a = memory.find(memory.base() + address);
  if (a == nullptr) return;
  WarpKernel::Memory m{a->begin - memory.base(), a->bytes};
  find_argument(k, m, closure, bytes);
  kept.memory = static_cast<std::int32_t>(k.memory.size());
  k.memory.push_back(m);
}

}  // namespace

void WarpRecords::add(const char* kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                      std::size_t dynamic_shared, std::size_t static_shared, KernelCounters& counters,
                      const void* closure, std::size_t closure_bytes) {
  const std::shared_ptr<WarpLog> log = std::exchange(counters.warp, nullptr);
  if (log == nullptr) return;
  All& a = all();
  std::lock_guard lock(a.mutex);
  WarpKernel* k = nullptr;
  for (auto& known : a.kernels)
    if (known->kernel == kernel && std::equal(grid, grid + 3, known->grid) &&
        std::equal(block, block + 3, known->block))
      k = known.get();
  if (k == nullptr) {
    if (a.kernels.size() == kMaxKernels) {
      ++a.left_out;
      return;
    }
    k = a.kernels.emplace_back(std::make_unique<WarpKernel>()).get();
    k->kernel = kernel;
    std::copy(grid, grid + 3, k->grid);
    std::copy(block, block + 3, k->block);
    k->dynamic_shared = dynamic_shared;
    k->static_shared = static_shared;
  }
  log->number_launch(static_cast<std::uint32_t>(k->launches++));
  for (const auto& [key, count] : counters.line) k->line[key].add(count);
  k->log.merge(*log);
  for (auto& [key, access] : k->log.accesses) {
    for (auto& kept : access.first) find_memory(*k, kept, closure, closure_bytes);
    for (auto& kept : access.worst) find_memory(*k, kept, closure, closure_bytes);
  }
}

std::string WarpRecords::take_json(bool with_lines) {
  All& a = all();
  std::lock_guard lock(a.mutex);
  const auto kernels = std::exchange(a.kernels, {});
  return warp_json(kernels, std::exchange(a.left_out, 0), with_lines);
}

}  // namespace ridge::simt
