// Runs the threads of one block on one OS thread, each CUDA thread on a fiber.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fault.hpp"
#include "fiber.hpp"
#include "memory.hpp"
#include "requests.hpp"

namespace ridge::simt {

constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr std::size_t kMaxEvents = 8192;  // a lane parks after so many, until its warp's events are counted

struct Index3 {
  unsigned x, y, z;
};

// One kernel launch as every worker sees it.
struct Launch {
  const char* kernel;
  Index3 grid, block;
  std::size_t dynamic_shared;
  void (*run)(void* closure);  // calls the kernel for the current thread
  void* closure;
  std::size_t closure_bytes;
  bool record;          // count accesses
  std::uint64_t order;  // seed of the lane order; 0 is ascending
};

enum class State : std::uint8_t { unstarted, ready, parked, at_barrier, done };

struct Thread {
  Index3 index;
  unsigned linear;
  State state;
  int slot;  // fiber slot, -1 while it has none
  const char* wait_file;
  int wait_line;
};

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Runs block `index` of `launch` to its end and adds its counts to `counters`. False after a fault.
  bool run(const Launch& launch, Index3 index, KernelCounters& counters);

  // The calls below come from inside a kernel.
  void barrier(const char* file, int line);
  void access(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc, unsigned part);
  [[noreturn]] void fault(Fault f);

  bool in_kernel() const { return current_ != nullptr; }
  const Thread& thread() const { return *current_; }
  const Launch& launch() const { return *launch_; }
  Index3 block_index() const { return block_; }

  static BlockRunner* current();  // of the calling OS thread, or nullptr

 private:
  struct Slot {
    Fiber fiber;
    bool made = false;
  };
  static void fiber_main(void* self);
  void run_warp(unsigned warp);
  Thread* next_unstarted();
  void resume(Thread& t);
  void leave();  // from a fiber to the scheduler
  bool release_barrier();
  unsigned lane_at(unsigned i) const;
  void classify(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  void out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  void deadlock();

  const Launch* launch_ = nullptr;
  Index3 block_{};
  KernelCounters* counters_ = nullptr;
  Thread* current_ = nullptr;
  bool faulted_ = false;

  std::vector<Thread> threads_;
  unsigned thread_count_ = 0;
  unsigned done_ = 0;
  unsigned warp_ = 0, warp_next_ = 0;  // the warp that runs, and its next lane position to start
  std::uint64_t order_ = 0;

  Fiber scheduler_;
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  char* stacks_ = nullptr;
  std::vector<Event> events_[kWarpSize];  // of the warp that runs

  std::uintptr_t stacks_begin_ = 0, stacks_bytes_ = 0;
  std::uintptr_t shared_begin_ = 0, shared_bytes_ = 0;
  std::uintptr_t dynamic_shared_ = ~std::uintptr_t{0} - (std::uintptr_t{1} << 20);  // no address is in it by default
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> static_shared_;
  std::uintptr_t text_ = 0;
  DeviceMemory& memory_;
};

}  // namespace ridge::simt
