// Barriers in shared memory, as functions (CUDA C++ Programming Guide, "Memory Barrier Primitives Interface").
#pragma once
#include <cstdint>

#include "cuda_runtime.h"
#include "ridge_simt/async_copy.h"

typedef ridge_simt::BarrierWord __mbarrier_t;
typedef ridge_simt::BarrierWord __mbarrier_token_t;  // the phase

RIDGE_DEVICE uint32_t __mbarrier_maximum_count() { return ridge_simt::kMostThreadsOfBarrier; }
RIDGE_DEVICE void __mbarrier_init(__mbarrier_t* barrier, uint32_t expected_count) {
  ridge_simt::barrier_init(barrier, expected_count);
}
RIDGE_DEVICE void __mbarrier_inval(__mbarrier_t* barrier) { *barrier = ~__mbarrier_t(0); }
RIDGE_DEVICE __mbarrier_token_t ridge_mbarrier_arrive(__mbarrier_t* barrier, unsigned drop) {
  ridge_simt::land_copies();
  bool last = false;
  const unsigned phase = ridge_simt::barrier_arrive(barrier, 1, drop, &last);
  const unsigned pending = ridge_simt::barrier_pending(barrier);
  if (last) ridge_simt::barrier_open(barrier);
  return (__mbarrier_token_t)pending << 32 | phase;
}
RIDGE_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) { return ridge_mbarrier_arrive(barrier, 0); }
RIDGE_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return ridge_mbarrier_arrive(barrier, 1);
}
RIDGE_DEVICE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) { return (uint32_t)(token >> 32); }
// False: not over yet. Other threads have had their turn then.
RIDGE_DEVICE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  if (ridge_simt::barrier_passed(barrier, (unsigned)token)) return true;
  ridge_simt::pause();
  return false;
}
RIDGE_DEVICE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, uint32_t) {
  return __mbarrier_test_wait(barrier, token);
}
RIDGE_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool phase_parity) {
  if ((ridge_simt::barrier_phase(barrier) & 1u) != (phase_parity ? 1u : 0u)) {
    ridge_simt::acquire();
    return true;
  }
  ridge_simt::pause();
  return false;
}
RIDGE_DEVICE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool phase_parity, uint32_t) {
  return __mbarrier_test_wait_parity(barrier, phase_parity);
}
