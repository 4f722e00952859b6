// Barriers in memory: cuda::barrier and the __mbarrier functions. The word is shared by threads of one block, which run
// on one OS thread, or by threads of several, which do not.

#include "kernel/warp_operations.hpp"
#include "ridge_simt/device.h"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

namespace {

// Bits of the word: 20 expected, 20 still to come, 24 of the phase.
constexpr unsigned kBits = 20;
constexpr BarrierWord kMask = (BarrierWord{1} << kBits) - 1;
constexpr unsigned kPhases = (1u << 24) - 1;

struct Parts {
  unsigned expected, pending, phase;
};
Parts parts(BarrierWord w) {
  return {static_cast<unsigned>(w & kMask), static_cast<unsigned>(w >> kBits & kMask),
          static_cast<unsigned>(w >> 2 * kBits)};
}
BarrierWord word(Parts p) {
  return p.expected | BarrierWord{p.pending} << kBits | BarrierWord{p.phase & kPhases} << 2 * kBits;
}
BarrierWord read(const BarrierWord* barrier) {
  const BarrierWord w = __atomic_load_n(barrier, __ATOMIC_ACQUIRE);
  if (w == ~BarrierWord{0})  // shared memory as a block finds it
    misuse(-1, "barrier used before init()", "one thread calls init(&barrier, count), then all meet at __syncthreads()",
           719);
  return w;
}

}  // namespace

void barrier_init(BarrierWord* barrier, unsigned expected) {
  if (expected == 0 || expected > kMostThreadsOfBarrier)
    misuse(-1, "init(&barrier, count): count", "1 to 1048575 threads can be expected", 1);
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  __atomic_store_n(barrier, word({expected, expected, 0}), __ATOMIC_RELEASE);
}

unsigned barrier_arrive(BarrierWord* barrier, unsigned count, unsigned drop, bool* last) {
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  library_check(last, sizeof *last, true, RIDGE_PC);
  fence(kRelease);
  for (BarrierWord old = read(barrier);;) {
    Parts p = parts(old);
    if (count > p.pending)
      misuse(-1, "barrier: more threads arrived than it expects", "see the count of its init()", 719);
    p.pending -= count;
    p.expected -= drop;
    if (__atomic_compare_exchange_n(barrier, &old, word(p), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      *last = p.pending == 0;
      return p.phase;
    }
  }
}

void barrier_open(BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  const Parts p = parts(read(barrier));
  count_memory_barrier();
  acquire();
  fence(kRelease);
  __atomic_store_n(barrier, word({p.expected, p.expected, p.phase + 1}), __ATOMIC_RELEASE);
}

bool barrier_passed(const BarrierWord* barrier, unsigned phase) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  if (parts(read(barrier)).phase == phase) return false;
  acquire();
  return true;
}
void barrier_wait(const BarrierWord* barrier, unsigned phase) {
  while (!barrier_passed(barrier, phase)) pause();
}
unsigned barrier_phase(const BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  return parts(read(barrier)).phase;
}
unsigned barrier_pending(const BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  return parts(read(barrier)).pending;
}

}  // namespace ridge_simt

#undef RIDGE_PC
