// One kernel launch, as each of its blocks sees it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "block/grid_barrier.hpp"
#include "block/thread.hpp"
#include "count/cache.hpp"
#include "count/footprint.hpp"

namespace ridge::simt {

class ChildLaunches;

struct Launch {
  const char* kernel;
  Index3 grid, block;
  std::size_t dynamic_shared;
  void (*run)(void* closure);  // calls the kernel for the current thread
  void* closure;
  std::size_t closure_bytes;
  bool record;                 // count accesses
  bool sanitize;               // look for races and uninitialised reads
  bool divergent_barriers;     // let them open, as a GPU does; never for a judge
  Footprint* footprint;        // gets the memory that the launch touches; null where nobody asks
  std::uint64_t order;         // seed of the order of lanes and blocks; 0 is ascending
  std::uint64_t serial;        // number of the launch in this program
  std::size_t l1_bytes;        // L1 that a block finds
  int device;                  // the device that runs it
  std::uint64_t reachable;     // devices whose memory it may access: bits
  L2Model* l2;                 // null where nothing is counted
  Index3 cluster = {1, 1, 1};  // blocks of a cluster
  bool cooperative = false;
  bool warps = false;                   // keep requests: RIDGE_WARP
  GridBarrier* grid_barrier = nullptr;  // cooperative launches only
  ChildLaunches* children = nullptr;    // null where kernels may launch none
  // Both are set where the block order is drawn. A block that polls calls `more`, which starts another block. A block
  // calls `hold` before one of its first volatile or atomic stores to global memory; it returns when others have begun.
  std::function<void()> more = {}, hold = {};
  const std::atomic<bool>* failed = nullptr;  // set when another block has ended by a fault
};

}  // namespace ridge::simt
