// One CUDA thread of a block, and what it waits for.
#pragma once
#include <cstdint>

namespace ridge::simt {

constexpr unsigned kMaxThreadsPerBlock = 1024;

struct Index3 {
  unsigned x, y, z;
  bool operator==(const Index3&) const = default;
};

enum class ThreadState : std::uint8_t {
  unstarted,
  ready,
  parked,         // until the requests of its warp are counted
  yielded,        // it polls memory, so other threads run first
  at_collective,  // until the lanes of its mask have come
  at_converged,   // __activemask()
  at_barrier,
  at_grid_barrier,
  at_memory_barrier,  // an mbarrier: Wait::object, Wait::mask is the phase
  at_named_barrier,   // Wait::mask is its number
  at_cluster_barrier,
  done,
};

// The call in which a thread waits, and the threads that it waits for.
struct Wait {
  const char* name = nullptr;  // "__shfl_sync", "__syncthreads()"
  const char* file = nullptr;  // barriers only
  int line = 0;
  unsigned mask = 0;
  std::uintptr_t pc = 0;  // warp operations only
  void (*work)(void* const*, unsigned) = nullptr;
  void* argument = nullptr;
  const void* object = nullptr;
  unsigned converged = 0;  // result of __activemask()
};

// What a switch of fibers reads lies elsewhere (BlockThreads), so that it stays in the first-level cache.
struct Thread {
  Index3 index;
  unsigned linear;
  // Saved frames of its calls in a judged program. frames.cpp reads them at these offsets.
  std::uintptr_t *frames, *first_frame, *frames_end;
  int slot;        // number of its stack
  unsigned spins;  // polls of spin_address since the block's barrier number spin_barrier
  unsigned spin_barrier;
  std::uintptr_t spin_address;
  unsigned looks;  // volatile loads since its last volatile store or barrier
  // Address of its last volatile load, or of its last atomic if that left the memory as it was; 0 after another
  // atomic and after a volatile store.
  std::uintptr_t polled;
  bool polled_by_atomic;
  std::uint64_t instructions;
};

}  // namespace ridge::simt
