// Races, reads of uninitialised memory and leaks: RIDGE_SANITIZE=1 looks for them beside the bounds that are always
// checked. One Sanitizer belongs to one BlockRunner; static functions concern the whole device.
//
// A race is two accesses of one byte by different threads, one of them a write, with no order between them. Order is
//  - inside a block: a block barrier, or a chain of warp synchronisations (any collective) from the one lane to the other;
//  - anywhere: the first thread's block has fenced after its access and then done an atomic or a volatile store, and the
//    second one's block has since done an atomic or a volatile load. Whether it saw what the first one signalled is not
//    asked: lenient, since it may have;
//  - launches, and grid barriers.
// Between blocks any fence of the block counts, and any atomic or volatile load before the second access. Inside a
// block the fence must be the thread's own, the atomic or volatile load one of the second thread's warp. Not reported
// though unordered:
//  - atomics among themselves, and against volatile accesses;
//  - volatile loads against volatile stores of other warps (flags that are polled);
//  - stores that change no byte (several threads set one flag to 1);
//  - plain loads that begin a loop of atomicCAS: the thread's own atomic follows at once; between blocks, any atomic after
//    a plain load.
// A read is uninitialised where no byte of it was ever written and all still hold the 0xFF of new memory; struct copies
// may have gaps of up to 7 bytes. __device__ variables and allocations of 1 GiB and more (not filled) are left out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sanitize/access.hpp"

namespace ridge::simt {

struct RunningBlock;

class Sanitizer {
 public:
  Sanitizer();
  ~Sanitizer();
  static bool enabled();  // RIDGE_SANITIZE=1, or the judge asked
  static void enable(bool on);

  // `launch` is a serial number that differs for every launch of the program; `block` is the linear block index.
  void begin_block(const char* kernel, std::uint64_t launch, std::uint64_t block, const unsigned block_index[3],
                   const unsigned block_dim[3]);
  void access(const LaneAccess& a);              // before the access happens
  void barrier();                                // all live threads of the block met
  void warp_sync(unsigned warp, unsigned mask);  // these lanes of the warp met
  void grid_sync();                              // all blocks met (cooperative launch)
  void fence(unsigned thread, int scope);        // scope as in ridge_simt::fence
  void acquire(unsigned thread);                 // it has seen what others released, by other means than an access
  void end_block();
  const RunningBlock& block() const;  // the one that begin_block named
  // A thread's copy to shared memory that goes on while the thread does: a read before it has arrived is reported.
  void copy_begun(std::uintptr_t to, unsigned bytes, unsigned thread, std::uint32_t pc);
  void copy_arrived(std::uintptr_t to, unsigned bytes, unsigned thread);
  // A bulk copy (TMA) writes these bytes of shared memory, in the order that its barrier makes.
  void bulk_written(std::uintptr_t to, std::size_t bytes);

  // The host's side. New device memory is uninitialised; copies, memsets and mapped buffers initialise it.
  static void allocated(std::uintptr_t begin, std::size_t bytes, bool initialised);
  // As above, for a caller in another process, given by its return addresses, innermost first.
  static void allocated(std::uintptr_t begin, std::size_t bytes, bool initialised, std::vector<void*> frames);
  static void written(std::uintptr_t begin, std::size_t bytes);
  static void freed(std::uintptr_t begin);
  // Allocations that were not freed yet, and who made the newest of them: offsets in the program of the two innermost
  // calls in code that `ridge cc` compiled, 0 where there is none.
  static std::size_t live_allocations();
  static void newest_allocation(std::uint32_t (&callers)[2]);
  // At the program's end, once: reports leaks and the number of problems. The program then exits 86 if there were any.
  static void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ridge::simt
