// Runs the threads of a block on fibers of one OS thread, one warp at a time: a warp's turn lasts until all its lanes
// wait or have ended.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "block/block_barrier.hpp"
#include "block/block_profiler.hpp"
#include "block/block_threads.hpp"
#include "block/frames.hpp"
#include "block/launch.hpp"
#include "device/fault.hpp"
#include "device/program.hpp"
#include "fiber/fiber_stacks.hpp"
#include "sanitize/sanitizer.hpp"

namespace ridge::simt {

class WarpScheduler {
 protected:
  // First, and in this order: threadIdx and its kin read them directly in code without instrumentation
  // (include/ridge_simt/indices.h), and frames.cpp reads the first one.
  Thread* current_ = nullptr;
  Index3 block_{}, block_dim_{}, grid_dim_{};

 private:
  // Members that each switch of fibers reads come next.
  Fiber scheduler_;
  unsigned first_lane_ = 0;     // of the running warp: its linear index
  unsigned running_ = 0;        // linear index of the current thread
  std::uint32_t runnable_ = 0;  // lanes of the running warp that are still to run: bits, in the drawn order
  unsigned lane_order_ = 0;     // position i is lane i ^ lane_order_
  unsigned waits_ = 0;          // kinds of waiting that lanes of the running warp began: bits of ThreadState

 public:
  WarpScheduler(const WarpScheduler&) = delete;
  WarpScheduler& operator=(const WarpScheduler&) = delete;

  bool in_kernel() const { return current_ != nullptr; }
  const Thread& thread() const { return *current_; }
  const Launch& launch() const { return *launch_; }
  Index3 block_index() const { return block_; }

  // Warp-level synchronisation, called inside a kernel: warp_sync.cpp.
  void collective(const char* name, unsigned mask, void (*work)(void* const*, unsigned), void* argument,
                  std::uintptr_t pc);
  unsigned converged(std::uintptr_t pc);
  unsigned live_lanes() const {
    return threads_.live_lanes((current_ != nullptr ? current_ : last_)->linear / kWarpSize);
  }

  // Faults end the kernel: warp_faults.cpp.
  [[noreturn]] void fault(Fault f);
  [[noreturn]] void fault(Fault f, std::uintptr_t pc) {
    f.pc = static_cast<std::uint32_t>(pc - program_.base);
    fault(std::move(f));
  }
  // A call with wrong arguments, by lane `lane` or, where it is negative, by the current thread.
  void misuse(int lane, const char* kind, const char* detail, int error, std::uintptr_t pc,
              Cause cause = Cause::device_call);
  // Lane `lane` gets a value that a GPU leaves undefined: told, and no fault, since nobody may use it.
  void undefined_value(int lane, const char* kind, const char* detail);

 protected:
  WarpScheduler();
  ~WarpScheduler() = default;

  void begin_block(const Launch& launch, Index3 index, KernelCounters& counters);
  void end_block();

  struct Round {
    bool spins = false;   // a warp has lanes that poll memory
    bool paused = false;  // a warp can go on, after the turns of the others
  };
  // One turn for each warp.
  Round run_round();

  // Switches from the current thread's fiber to the scheduler's.
  [[gnu::always_inline]] void leave() { fiber_switch(threads_.fiber(running_), scheduler_); }
  // The next lane that can run goes on at once: half the switches that a way through the scheduler would take.
  [[gnu::always_inline]] void wait(ThreadState state) {
    Fiber& own = threads_.fiber(running_);
    threads_.state(running_) = state;
    waits_ |= 1u << static_cast<unsigned>(state);
    if (runnable_ != 0)
      fiber_switch(own, next_lane());
    else
      fiber_switch(own, scheduler_);
  }

  // warp_faults.cpp
  Fault fault_of(const Thread& t) const;
  void stop(Fault f);  // a fault found by the scheduler
  const Wait& place_of(const Thread& t) const;
  std::string describe(const Thread& t) const;

  const Launch* launch_ = nullptr;
  BlockBarrier barrier_;
  BlockThreads threads_;
  bool faulted_ = false;
  bool woken_ = false;  // threads were made ready outside of their warp's turn
  unsigned done_ = 0;   // threads that have ended
  KernelCounters* counters_ = nullptr;
  std::uint64_t linear_block_ = 0;
  const Program& program_;
  FiberStacks stacks_;
  BlockProfiler profiler_;
  Sanitizer sanitizer_;
  const Thread* last_ = nullptr;  // the thread that ran last, for reports of work functions

 private:
  enum class Turn { over, spins, paused };
  Turn run_warp(unsigned warp, bool paused);
  void run_lanes(unsigned warp);
  void prepare(unsigned linear);
  void start(Thread& t, int slot);
  // The linear index of the lane that runs next, where there is one: take_lane() makes it the current thread's.
  unsigned peek_lane() const {
    return first_lane_ + (static_cast<unsigned>(std::countr_zero(runnable_)) ^ lane_order_);
  }
  void take_lane() {
    running_ = peek_lane();
    runnable_ &= runnable_ - 1;
    current_ = &threads_[running_];
  }
  // Takes the next lane; returns its fiber.
  [[gnu::always_inline]] Fiber& next_lane() {
    take_lane();
    if (threads_.state(running_) == ThreadState::unstarted) [[unlikely]]
      prepare(running_);
    threads_.state(running_) = ThreadState::ready;
    if (runnable_ != 0) __builtin_prefetch(threads_.fiber(peek_lane()).context);
    return threads_.fiber(running_);
  }
  static void fiber_main(void* self);
  void flush(unsigned warp) {
    if (!faulted_ && launch_->record) profiler_.flush(warp);
  }

  // warp_sync.cpp
  bool release_collectives(unsigned warp);
  bool release_converged(unsigned warp);
  bool release_yielded(unsigned warp);
  bool has_woken(unsigned warp);          // lanes that something else than their warp made ready
  bool check_collectives(unsigned warp);  // warp_faults.cpp; true: lanes wait for one that others will free

  Frames frames_;
  std::uint64_t order_ = 0;
  std::uint32_t held_ = 0;    // warps with lanes that wait for a lane at a barrier in memory or of other warps: bits
  std::uint32_t paused_ = 0;  // warps whose last turn ended while lanes could go on: bits
};

}  // namespace ridge::simt
