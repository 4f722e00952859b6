// ridge_simt/hopper/mbarrier.h: barriers in shared memory.
#include "ridge_simt/hopper/mbarrier.h"

#include <algorithm>

#include "hopper/mbarrier_word.hpp"
#include "hopper/unit.hpp"
#include "sanitize/running_block.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge::simt {

void HopperUnit::phase_over(std::uintptr_t barrier) {
  limits_reached_ = 0;
  runner_.count_memory_barrier();
  if (const auto at = std::find(fed_.begin(), fed_.end(), barrier); at != fed_.end()) {
    fed_.erase(at);
    ++runner_.counters().async.phases;
  }
  BlockRunner::note_progress();
  runner_.wake(ThreadState::at_memory_barrier,
               [&](const Wait& w) { return reinterpret_cast<std::uintptr_t>(w.object) == barrier; });
}

void HopperUnit::arrive(std::uintptr_t barrier, unsigned arrivals, int bytes, bool drop) {
  void* const at = reinterpret_cast<void*>(barrier);
  MbarrierWord w = MbarrierWord::read(at);
  w.bytes += bytes;
  w.pending -= arrivals;
  if (drop) w.expected -= arrivals;
  const bool over = w.complete();
  w.write(at);
  if (over) phase_over(barrier);
}

namespace {
// A GPU lets such an arrival pass, and promises nothing.
void report_ended(BlockRunner& r, std::uintptr_t pc) {
  constexpr const char* kKind = "arrival at a barrier of a block that has ended";
  if (seen_before(kKind, r.pc_offset(pc), 0)) return;
  const RunningBlock& block = r.sanitizer()->block();
  report_finding(
      block.finding(Cause::race_shared, kKind, block.place(r.pc_offset(pc), r.thread().linear),
                    "a block whose barriers others of its cluster use ends behind a cluster.sync() with them"));
}
}  // namespace

// The block in whose shared memory a barrier lies, after the checks that every instruction needs.
HopperUnit& unit_of_barrier(BlockRunner& r, void* barrier, bool initialised, std::uintptr_t pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(barrier);
  if (address % 8 != 0) r.misuse(-1, "mbarrier: misaligned", "its 8 bytes lie at a multiple of 8", kHopperMisuse, pc);
  BlockRunner* owner = &r;
  if (!r.is_shared(address)) owner = r.neighbour(address);
  if (owner == nullptr || !owner->holds_shared(address, 8))
    r.misuse(-1, "mbarrier: not in shared memory", "it is a 64-bit variable of a __shared__ array", kHopperMisuse, pc);
  if (owner != &r && r.sanitizer() != nullptr && r.cluster()->has_ended(owner->rank_in_cluster())) report_ended(r, pc);
  if (initialised && MbarrierWord::raw(barrier) == MbarrierWord::kUnset)
    r.misuse(-1, "mbarrier used before mbarrier.init",
             "one thread initialises it, fences, and then all meet at __syncthreads()", kHopperMisuse, pc);
  return HopperUnit::of(*owner);
}

std::uint64_t arrive_at_barrier(void* barrier, unsigned count, int bytes, bool drop, std::uintptr_t pc) {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit& unit = unit_of_barrier(r, barrier, true, pc);
  ridge_simt::fence(ridge_simt::kRelease);
  const MbarrierWord w = MbarrierWord::read(barrier);
  if (count == 0 || count > w.pending)
    r.misuse(-1, "mbarrier: more arrivals than it expects",
             "see the count of its mbarrier.init: a phase ends with as many arrivals", kHopperMisuse, pc);
  if (bytes < 0 || w.bytes + bytes > static_cast<int>(MbarrierWord::kMost))
    r.misuse(-1, "mbarrier: too many bytes", "a phase can expect 1048575 bytes", kHopperMisuse, pc);
  if (ProxyRaces* races = unit.races(); races != nullptr && &unit == r.async())
    races->come(reinterpret_cast<std::uintptr_t>(barrier));
  unit.arrive(reinterpret_cast<std::uintptr_t>(barrier), count, bytes, drop);
  return w.word();
}

}  // namespace ridge::simt

namespace ridge_simt {

using ridge::simt::BlockRunner;
using ridge::simt::HopperUnit;
using ridge::simt::kHopperMisuse;
using ridge::simt::MbarrierWord;
using ridge::simt::ProxyRaces;
using ridge::simt::ThreadState;
using ridge::simt::unit_of_barrier;

void mbarrier_init(void* barrier, unsigned count) {
  BlockRunner& r = *BlockRunner::current();
  unit_of_barrier(r, barrier, false, RIDGE_PC).initialised(reinterpret_cast<std::uintptr_t>(barrier), RIDGE_PC);
  if (count == 0 || count > MbarrierWord::kMost)
    r.misuse(-1, "mbarrier.init: count", "1 to 1048575 arrivals can be expected", kHopperMisuse, RIDGE_PC);
  MbarrierWord{count, count, 0, 0}.write(barrier);
}

void mbarrier_invalidate(void* barrier) {
  unit_of_barrier(*BlockRunner::current(), barrier, true, RIDGE_PC);
  const std::uint64_t unset = MbarrierWord::kUnset;
  std::memcpy(barrier, &unset, sizeof unset);
}

std::uint64_t mbarrier_arrive(void* barrier, unsigned count, int bytes, bool drop) {
  return ridge::simt::arrive_at_barrier(barrier, count, bytes, drop, RIDGE_PC);
}

void mbarrier_expect(void* barrier, int bytes) {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit& unit = unit_of_barrier(r, barrier, true, RIDGE_PC);
  const int sum = MbarrierWord::read(barrier).bytes + bytes, most = static_cast<int>(MbarrierWord::kMost);
  if (sum > most || sum < -most)
    r.misuse(-1, "mbarrier: too many bytes", "a phase can expect 1048575 bytes", kHopperMisuse, RIDGE_PC);
  unit.arrive(reinterpret_cast<std::uintptr_t>(barrier), 0, bytes, false);
}

bool mbarrier_test(void* barrier, std::uint64_t phase, bool parity, bool wait) {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit& unit = unit_of_barrier(r, barrier, true, RIDGE_PC);
  if (&unit != r.async())
    r.misuse(-1, "mbarrier: a wait for another block's barrier", "threads wait for barriers of their own block alone",
             kHopperMisuse, RIDGE_PC);
  const auto at = reinterpret_cast<std::uintptr_t>(barrier);
  const auto over = [&] {
    const unsigned now = MbarrierWord::read(barrier).phase;
    return parity ? (now & 1) != (phase & 1) : now != MbarrierWord::of(phase).phase;
  };
  if (!wait || !unit.copies_come_late()) unit.land(at);
  if (!over()) {
    if (wait)
      r.wait_for(ThreadState::at_memory_barrier, "mbarrier.try_wait", barrier,
                 static_cast<unsigned>(parity ? phase & 1 : MbarrierWord::of(phase).phase & 1), RIDGE_PC);
    else
      r.pause(RIDGE_PC);
    if (!over()) return false;
  }
  if (ridge::simt::ProxyRaces* races = unit.races()) races->pass(at);
  acquire();
  return true;
}

unsigned mbarrier_pending(std::uint64_t state) { return MbarrierWord::of(state).pending; }

void copies_arrive(void* barrier, bool counted) {
  BlockRunner& r = *BlockRunner::current();
  HopperUnit& unit = unit_of_barrier(r, barrier, true, RIDGE_PC);
  pipeline_commit();
  pipeline_wait(0);
  if (!counted) return;  // it counts itself, and arrives
  fence(kRelease);
  if (MbarrierWord::read(barrier).pending == 0)
    r.misuse(-1, "mbarrier: more arrivals than it expects",
             "see the count of its mbarrier.init: a phase ends with as many arrivals", kHopperMisuse, RIDGE_PC);
  if (ProxyRaces* races = unit.races(); races != nullptr && &unit == r.async())
    races->come(reinterpret_cast<std::uintptr_t>(barrier));
  unit.arrive(reinterpret_cast<std::uintptr_t>(barrier), 1, 0, false);
}

}  // namespace ridge_simt

#undef RIDGE_PC
