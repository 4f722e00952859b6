// PTX's mbarrier: a word of shared memory that counts arrivals and bytes. A phase ends when all arrivals and all bytes
// that were announced have come; waiting for a phase's parity ends when it is over. PTX ISA, "mbarrier".
#pragma once
#include <cstdint>

#include "../device.h"

namespace ridge_simt {

// `barrier`: a pointer to 8 bytes of shared memory, of this block or of another one of the cluster. Checked.
void mbarrier_init(void* barrier, unsigned count);
void mbarrier_invalidate(void* barrier);
// `count` threads arrive, and `bytes` are announced before. The phase as a state for mbarrier_test().
std::uint64_t mbarrier_arrive(void* barrier, unsigned count, int bytes, bool drop);
// Bytes that are still to come, or (below zero) have come.
void mbarrier_expect(void* barrier, int bytes);
// Whether the phase is over: of a state, or the last one of a parity (`phase` is 0 or 1). `wait`: for a while.
bool mbarrier_test(void* barrier, std::uint64_t phase, bool parity, bool wait);
unsigned mbarrier_pending(std::uint64_t state);
// This thread's cp.async copies land, and it arrives. `counted`: it is among those that the barrier expects.
void copies_arrive(void* barrier, bool counted);

// bar.sync and bar.arrive: barrier `number` opens when `threads` threads (0: all of the block) have come.
void named_barrier(unsigned number, unsigned threads);
void named_barrier_arrive(unsigned number, unsigned threads);

// What this thread wrote in shared (or global) memory is there for TMA and wgmma, which do not read it as a thread does.
void proxy_fence(bool shared);
// setmaxnreg: registers of a thread of this warp, from now on.
void set_registers(unsigned count, bool more);

}  // namespace ridge_simt
