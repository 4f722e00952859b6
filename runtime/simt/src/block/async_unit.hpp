// What goes on in a block beside its threads: bulk copies, products of warpgroups, barriers that threads of other
// blocks open (src/hopper). A block that uses none has none.
#pragma once
#include <cstdint>

#include "device/fault.hpp"

namespace ridge::simt {

class BlockRunner;

class AsyncUnit {
 public:
  virtual ~AsyncUnit() = default;
  virtual void begin_block() = 0;
  virtual void end_block(bool faulted) = 0;
  // Every warp had its turn, and some can go on where `others_move`: what goes on by itself comes further. Whether a
  // thread can go on now.
  virtual bool progress(bool others_move) = 0;
  // No thread can go on. Whether some can now, because a wait with a limit has ended.
  virtual bool timed_out() = 0;
  // For the sanitizer: an access of the running thread to shared memory, or to its own; all threads have met.
  virtual void accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) = 0;
  virtual void stored(std::uintptr_t address, unsigned bytes, std::uint32_t pc) = 0;  // to global memory, too
  virtual void local_accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) = 0;
  virtual void block_barrier() = 0;
  // Says what the threads wait for, where it knows.
  virtual bool explain(Fault& f) = 0;
};

// The cluster of a block: blocks that run in turns, one at a time.
class ClusterTurns {
 public:
  enum class Next { go, all_wait, failed };
  virtual ~ClusterTurns() = default;
  // This block has done what it could; `polls`: its threads poll memory, `waits`: they wait. Returns at its next turn.
  virtual Next pass(bool polls, bool waits) = 0;
  virtual unsigned rank() const = 0;   // of the block whose turn it is
  virtual unsigned count() const = 0;  // blocks
  virtual BlockRunner* member(unsigned rank) = 0;
  virtual bool has_ended(unsigned rank) const = 0;
  // The block in whose shared memory this address lies; null where there is none.
  virtual BlockRunner* owner(std::uintptr_t address) = 0;
  // barrier.cluster: the number of the phase that the thread's arrival is part of, and whether a phase is over.
  virtual unsigned arrive() = 0;
  virtual bool over(unsigned phase) const = 0;
};

}  // namespace ridge::simt
