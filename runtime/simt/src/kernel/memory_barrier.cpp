// Barriers in memory: cuda::barrier and the __mbarrier functions. The word is shared by threads of one block, which run
// on one OS thread, or by threads of several, which do not.

#include "hopper/mbarrier_word.hpp"
#include "hopper/unit.hpp"
#include "kernel/warp_operations.hpp"
#include "ridge_simt/device.h"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

using ridge::simt::BlockRunner;
using ridge::simt::HopperUnit;
using ridge::simt::MbarrierWord;
using ridge::simt::ThreadState;

namespace {

BarrierWord read(const BarrierWord* barrier) {
  const BarrierWord w = __atomic_load_n(barrier, __ATOMIC_ACQUIRE);
  if (w == ~BarrierWord{0})  // shared memory as a block finds it
    misuse(-1, "barrier used before init()", "one thread calls init(&barrier, count), then all meet at __syncthreads()",
           719);
  return w;
}

std::uintptr_t address(const BarrierWord* barrier) { return reinterpret_cast<std::uintptr_t>(barrier); }

// Of a block that has such a unit, for a barrier in its shared memory: bulk copies may come to it.
HopperUnit* unit_of(const BarrierWord* barrier) {
  BlockRunner& r = *BlockRunner::current();
  auto* const unit = static_cast<HopperUnit*>(r.async());
  return unit != nullptr && unit->used() && r.is_shared(address(barrier)) ? unit : nullptr;
}

}  // namespace

void barrier_init(BarrierWord* barrier, unsigned expected) {
  if (expected == 0 || expected > kMostThreadsOfBarrier)
    misuse(-1, "init(&barrier, count): count", "1 to 1048575 threads can be expected", 1);
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  if (HopperUnit* unit = unit_of(barrier)) unit->initialised(address(barrier), RIDGE_PC);
  __atomic_store_n(barrier, MbarrierWord{expected, expected, 0, 0}.word(), __ATOMIC_RELEASE);
}

unsigned barrier_arrive(BarrierWord* barrier, unsigned count, unsigned drop, bool* last) {
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  library_check(last, sizeof *last, true, RIDGE_PC);
  fence(kRelease);
  if (HopperUnit* unit = unit_of(barrier); unit != nullptr && unit->races() != nullptr)
    unit->races()->come(address(barrier));
  for (BarrierWord old = read(barrier);;) {
    MbarrierWord p = MbarrierWord::of(old);
    if (count > p.pending)
      misuse(-1, "barrier: more threads arrived than it expects", "see the count of its init()", 719);
    p.pending -= count;
    p.expected -= drop;
    if (__atomic_compare_exchange_n(barrier, &old, p.word(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      *last = p.pending == 0 && p.bytes == 0;
      return p.phase;
    }
  }
}

unsigned barrier_arrive_bytes(BarrierWord* barrier, unsigned count, unsigned bytes) {
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  BlockRunner& r = *BlockRunner::current();
  HopperUnit& unit = ridge::simt::unit_of_barrier(r, barrier, true, RIDGE_PC);
  if (!unit.knows(address(barrier))) unit.initialised(address(barrier), RIDGE_PC);
  return MbarrierWord::of(ridge::simt::arrive_at_barrier(barrier, count, static_cast<int>(bytes), false, RIDGE_PC))
      .phase;
}

void barrier_open(BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, true, RIDGE_PC);
  MbarrierWord p = MbarrierWord::of(read(barrier));
  acquire();
  fence(kRelease);
  p.complete();
  __atomic_store_n(barrier, p.word(), __ATOMIC_RELEASE);
  if (HopperUnit* unit = unit_of(barrier))
    unit->phase_over(address(barrier));
  else
    count_memory_barrier();
}

bool barrier_passed(const BarrierWord* barrier, unsigned phase) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  HopperUnit* const unit = unit_of(barrier);
  if (unit != nullptr) unit->land(address(barrier));
  if (MbarrierWord::of(read(barrier)).phase == phase) return false;
  if (unit != nullptr && unit->races() != nullptr) unit->races()->pass(address(barrier));
  acquire();
  return true;
}
void barrier_wait(const BarrierWord* barrier, unsigned phase) {
  for (;;) {
    const HopperUnit* const unit = unit_of(barrier);
    if (unit == nullptr || !unit->copies_come_late() || MbarrierWord::of(read(barrier)).phase != phase)
      if (barrier_passed(barrier, phase)) return;
    if (unit != nullptr)
      BlockRunner::current()->wait_for(ThreadState::at_memory_barrier, "barrier.wait", barrier, phase & 1, RIDGE_PC);
    else
      pause();
  }
}
unsigned barrier_phase(const BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  if (HopperUnit* unit = unit_of(barrier)) unit->land(address(barrier));
  return MbarrierWord::of(read(barrier)).phase;
}
unsigned barrier_pending(const BarrierWord* barrier) {
  library_check(barrier, sizeof *barrier, false, RIDGE_PC);
  return MbarrierWord::of(read(barrier)).pending;
}

}  // namespace ridge_simt

#undef RIDGE_PC
