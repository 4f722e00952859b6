#include "hopper/unit.hpp"

#include <algorithm>
#include <cstdio>

#include "hopper/mbarrier_word.hpp"
#include "sanitize/running_block.hpp"

namespace ridge::simt {

HopperUnit& HopperUnit::of(BlockRunner& runner) {
  if (runner.async() == nullptr) {
    runner.set_async(std::make_unique<HopperUnit>(runner));
    runner.async()->begin_block();
  }
  auto& unit = static_cast<HopperUnit&>(*runner.async());
  unit.used_ = true;
  return unit;
}

namespace {
[[maybe_unused]] const bool kRegistered = [] {
  BlockRunner::make_async = [](BlockRunner& r) -> std::unique_ptr<AsyncUnit> {
    return std::make_unique<HopperUnit>(r);
  };
  return true;
}();
}  // namespace

void HopperUnit::accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) {
  if (ProxyRaces* r = races()) r->access(address, bytes, store, pc);
}

void HopperUnit::stored(std::uintptr_t address, unsigned bytes, std::uint32_t pc) {
  constexpr std::size_t kMost = 1 << 14;
  const unsigned thread = runner_.thread().linear;
  if (products_.size() <= thread / 32 || bytes % 4 != 0) return;
  Products& own = products_[thread / 32];
  if (!own.asked.empty() && own.stores.size() < kMost) own.stores.push_back({address, bytes, thread, pc});
}

void HopperUnit::local_accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) {
  const unsigned thread = runner_.thread().linear;
  if (products_.size() <= thread / 32 || races() == nullptr) return;
  for (WarpProduct& p : products_[thread / 32].asked)
    if (p.holds_result(thread % 32, address, bytes)) {
      races()->registers_touched(p, pc, store);
      p.reported = true;
    }
}

void HopperUnit::block_barrier() {
  if (ProxyRaces* r = races()) r->block_barrier();
}

void HopperUnit::initialised(std::uintptr_t barrier, std::uintptr_t pc) {
  barriers_.erase(std::remove_if(barriers_.begin(), barriers_.end(), [&](const auto& b) { return b.first == barrier; }),
                  barriers_.end());
  barriers_.emplace_back(barrier, pc);
}

void HopperUnit::begin_block() {
  barriers_.clear();
  used_ = false;
  if (runner_.sanitizer() == nullptr)
    races_.reset();
  else if (races_)
    races_->begin_block();
  else
    races_ = std::make_unique<ProxyRaces>(runner_);
  copies_.clear();
  under_way_ = 0;
  fed_.clear();
  for (Stores& s : stores_) s = {};
  for (Products& p : products_) p = {};
  for (NamedBarrier& b : named_) b = {};
  std::fill(cluster_arrivals_.begin(), cluster_arrivals_.end(), 0u);
  cluster_come_ = cluster_phase_ = 0;
  limits_reached_ = 0;
}

void HopperUnit::end_block(bool faulted) {
  if (!faulted && races() != nullptr)
    for (const Stores& s : stores_)
      for (const BulkCopy& c : s.asked) report_unread(c);
  if (!faulted)
    for (unsigned t = 0; t < stores_.size(); ++t) {
      commit_stores(t);
      wait_stores(t, 0);
    }
  if (!faulted && runner_.sanitizer() != nullptr) check_bytes();
  copies_.clear();
}

// A block's shared memory is another block's when it ends.
void HopperUnit::report_unread(const BulkCopy& c) {
  constexpr const char* kKind = "the block ends before a bulk copy has read its shared memory";
  if (seen_before(kKind, runner_.pc_offset(c.pc), 0)) return;
  const RunningBlock& block = runner_.sanitizer()->block();
  report_finding(block.finding(Cause::race_shared, kKind, block.place(runner_.pc_offset(c.pc), c.thread),
                               "the thread that stores must wait with cp.async.bulk.wait_group.read before it ends"));
}

// A barrier whose announced bytes are not those that came: the next wait would hang, or end too early.
void HopperUnit::check_bytes() {
  while (!copies_.empty()) land(copies_.front().barrier);
  for (const auto& [barrier, pc] : barriers_) {
    const void* at = reinterpret_cast<const void*>(barrier);
    if (MbarrierWord::raw(at) == MbarrierWord::kUnset) continue;
    const int bytes = MbarrierWord::read(at).bytes;
    constexpr const char* kKind = "mbarrier: wrong transaction count";
    if (bytes == 0 || seen_before(kKind, runner_.pc_offset(pc), 0)) continue;
    const RunningBlock& block = runner_.sanitizer()->block();
    report_finding(block.finding(
        Cause::barrier_deadlock, kKind, block.place(runner_.pc_offset(pc), 0),
        bytes > 0
            ? std::to_string(bytes) + " bytes that were announced have not come when the block ends"
            : std::to_string(-bytes) + " bytes more have come than were announced: a phase ends before its copies"));
  }
}

bool HopperUnit::waited_for(std::uintptr_t barrier) {
  for (const Thread& t : runner_.threads())
    if (runner_.threads().state(t) == ThreadState::at_memory_barrier &&
        reinterpret_cast<std::uintptr_t>(runner_.threads().wait_of(t).object) == barrier)
      return true;
  return false;
}

bool HopperUnit::progress(bool others_move) {
  std::vector<std::uintptr_t> barriers;
  if (!others_move || !copies_come_late())
    for (const BulkCopy& c : copies_)
      if (std::find(barriers.begin(), barriers.end(), c.barrier) == barriers.end()) barriers.push_back(c.barrier);
  for (const std::uintptr_t barrier : barriers)
    if (waited_for(barrier)) land(barrier);
  check_cluster_barrier();
  return runner_.woken();
}

// A wait with a time limit ends some times without its phase; a program that asks again for ever hangs.
bool HopperUnit::timed_out() {
  constexpr unsigned kLimits = 3;
  if (!copies_.empty()) {
    while (!copies_.empty()) land(copies_.front().barrier);
    return true;
  }
  if (limits_reached_ >= kLimits) return false;
  ++limits_reached_;
  return runner_.wake(ThreadState::at_memory_barrier, [](const Wait&) { return true; }) != 0;
}

bool HopperUnit::explain(Fault& f) {
  struct Waiters {
    const void* barrier;
    unsigned parity, threads;
    const Thread* first;
  };
  std::vector<Waiters> all;
  for (const Thread& t : runner_.threads()) {
    if (runner_.threads().state(t) != ThreadState::at_memory_barrier) continue;
    const Wait& w = runner_.threads().wait_of(t);
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const Waiters& x) { return x.barrier == w.object && x.parity == (w.mask & 1); });
    if (at == all.end()) at = all.insert(all.end(), {w.object, w.mask & 1, 0, &t});
    ++at->threads;
  }
  if (all.empty()) return false;
  f.kind = "hang at an mbarrier";
  f.detail.clear();
  for (const Waiters& w : all) {
    const MbarrierWord word = MbarrierWord::read(w.barrier);
    char text[320];
    const auto shared = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(w.barrier) -
                                              (runner_.shared_begin() & ~std::uintptr_t{1023}));
    std::snprintf(
        text, sizeof text,
        "%s%u thread%s for phase %u (parity %u) of the barrier at shared address 0x%x, the first of them %s: ",
        f.detail.empty() ? "" : "; ", w.threads, w.threads == 1 ? " waits" : "s wait", word.phase, w.parity, shared,
        runner_.describe_thread(*w.first).c_str());
    f.detail += text;
    std::snprintf(text, sizeof text, "%u of %u arrivals are missing", word.pending, word.expected);
    f.detail += text;
    if (word.bytes > 0) f.detail += ", and " + std::to_string(word.bytes) + " bytes that were announced have not come";
    if (word.bytes < 0)
      f.detail += ", and " + std::to_string(-word.bytes) + " bytes more have come than were announced";
  }
  f.pc = runner_.pc_offset(runner_.threads().wait_of(*all.front().first).pc);
  f.file.clear();
  const unsigned i[3] = {all.front().first->index.x, all.front().first->index.y, all.front().first->index.z};
  std::copy(i, i + 3, f.thread);
  return true;
}

}  // namespace ridge::simt
