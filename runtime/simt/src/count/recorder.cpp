#include "count/recorder.hpp"

#include <bit>

#include "count/cache.hpp"
#include "count/warp_log.hpp"

namespace ridge::simt {

void Recorder::flush(KernelCounters& counters, CacheModel& cache, Warp warp) {
  WarpLog* log = counters.warp.get();
  // Few source lines make most requests: keep the last ones at hand.
  constexpr std::size_t kRecent = 64;
  struct Recent {
    std::uint64_t key = ~std::uint64_t{0};
    AccessCount* count = nullptr;
  } recent[kRecent];

  Sectors sectors;
  if (members_ != 0) merge_members(requests_.data(), requests_.size());
  members_ = 0;
  for (const Request& r : requests_) {
    if (r.lanes == 0) continue;
    if (r.op() == Op::constant_load) {
      ++counters.constant_requests;
      counters.constant_turns += distinct_addresses(r);
      continue;
    }
    AccessCount c = count_request(r, sectors);
    auto op = static_cast<std::size_t>(r.op());
    counters.op[op].add(c);
    std::uint64_t key = std::uint64_t{r.pc()} * kOps + op;
    Recent& slot = recent[key % kRecent];
    if (slot.key != key) slot = {key, &counters.line[key]};
    slot.count->add(c);
    if (log != nullptr) log->request(r, c, warp.index);
    if (sectors.count == 0) continue;
    cache.request(sectors, r.op());
    if (r.op() == Op::global_red || r.op() == Op::global_atom)
      for (unsigned i = 0; i < sectors.count; ++i) counters.atomics[sectors.index[i] / 4] += c.sectors / sectors.count;
  }
  for (const BlockRun& run : runs_) {
    const auto& b = *reinterpret_cast<const BlockRecord*>(run.where);
    auto lanes = static_cast<std::uint64_t>(std::popcount(run.lanes));
    ++counters.warp_basic_blocks;
    counters.lane_basic_blocks += lanes;
    counters.warp_instructions += b.instructions;
    counters.load_waits += b.load_waits;
    counters.lane_instructions += lanes * b.instructions;
    counters.local_loads += b.local_loads;
    counters.local_stores += b.local_stores;
    counters.fp32 += lanes * b.fp32;
    counters.fp64 += lanes * b.fp64;
    counters.special += lanes * b.special;
    if (log != nullptr) log->run(run.where, run.path, run.lanes, warp.threads, warp.index);
  }
  clear();
}

}  // namespace ridge::simt
