// bar.sync and bar.arrive: 16 barriers of a block, for as many of its threads as each call says.
#include <algorithm>

#include "hopper/unit.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge::simt {

void HopperUnit::come(unsigned number, unsigned threads, bool wait, std::uintptr_t pc) {
  if (number >= 16) runner_.misuse(-1, "bar.sync: no such barrier", "a block has barriers 0 to 15", kHopperMisuse, pc);
  if (threads == 0) threads = (runner_.threads().size() + 31) / 32 * 32;
  if (threads % 32 != 0 || threads > (runner_.threads().size() + 31) / 32 * 32)
    runner_.misuse(-1, "bar.sync: number of threads", "a multiple of 32, at most the block's threads", kHopperMisuse,
                   pc);
  NamedBarrier& b = named_[number];
  if (b.come != 0 && b.expected != threads)
    runner_.misuse(-1, "bar.sync: different numbers of threads",
                   "all that come to a barrier say how many are to come, and say the same", kHopperMisuse, pc);
  b.expected = std::min(threads, runner_.threads().size());
  ridge_simt::fence(ridge_simt::kRelease);
  if (ProxyRaces* r = races()) r->come(number);
  if (++b.come < b.expected) {
    if (wait) runner_.wait_for(ThreadState::at_named_barrier, "bar.sync", nullptr, number, pc);
  } else {
    b = {};
    limits_reached_ = 0;
    ++runner_.counters().barriers;
    BlockRunner::note_progress();
    runner_.wake(ThreadState::at_named_barrier, [&](const Wait& w) { return w.mask == number; });
  }
  if (!wait) return;
  if (ProxyRaces* r = races()) r->pass(number);
  ridge_simt::acquire();
}

}  // namespace ridge::simt

namespace ridge_simt {

using ridge::simt::HopperUnit;

void named_barrier(unsigned number, unsigned threads) {
  auto& r = *ridge::simt::BlockRunner::current();
  HopperUnit::of(r).come(number, threads, true, RIDGE_PC);
}
void named_barrier_arrive(unsigned number, unsigned threads) {
  auto& r = *ridge::simt::BlockRunner::current();
  HopperUnit::of(r).come(number, threads, false, RIDGE_PC);
}
void proxy_fence(bool shared) {
  fence(0);
  auto& r = *ridge::simt::BlockRunner::current();
  if (r.sanitizer() == nullptr || !shared) return;
  if (auto* races = HopperUnit::of(r).races()) races->proxy_fence();
}
void set_registers(unsigned count, bool) {
  auto& r = *ridge::simt::BlockRunner::current();
  if (count % 8 != 0 || count < 24 || count > 256)
    r.misuse(-1, "setmaxnreg: number of registers", "24 to 256, in steps of 8", ridge::simt::kHopperMisuse, RIDGE_PC);
}

}  // namespace ridge_simt

#undef RIDGE_PC
