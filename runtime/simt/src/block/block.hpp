// Runs the threads of one block on one OS thread, each CUDA thread on a fiber.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "block/footprint.hpp"
#include "block/frames.hpp"
#include "block/pipeline.hpp"
#include "count/cache.hpp"
#include "count/path.hpp"
#include "count/recorder.hpp"
#include "device/fault.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "fiber/fiber.hpp"
#include "sanitize/sanitizer.hpp"

namespace ridge::simt {

constexpr unsigned kMaxThreadsPerBlock = 1024;

struct Index3 {
  unsigned x, y, z;
  bool operator==(const Index3&) const = default;
};

class GridBarrier;

// One kernel launch as every worker sees it.
struct Launch {
  const char* kernel;
  Index3 grid, block;
  std::size_t dynamic_shared;
  void (*run)(void* closure);  // calls the kernel for the current thread
  void* closure;
  std::size_t closure_bytes;
  bool record;                          // count accesses
  bool sanitize;                        // look for races and uninitialised reads
  Footprint* footprint;                 // what it touches goes there; null: nobody wants to know
  std::uint64_t order;                  // seed of the lane order; 0 is ascending
  std::uint64_t serial;                 // number of the launch in this program
  std::size_t l1_bytes;                 // of L1 that a block finds
  int device;                           // that it runs on
  std::uint64_t reachable;              // devices whose memory it may access: bits
  L2Model* l2;                          // null where nothing is counted
  bool warps = false;                   // keep requests: RIDGE_WARP
  GridBarrier* grid_barrier = nullptr;  // cooperative launches
  std::function<void()> more = {};      // asked by a block that polls, where blocks start in a drawn order
};

// Blocks of a cooperative launch wait here for each other.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : live_(blocks) {}
  // False where another block ended without coming here.
  bool wait();
  void leave(bool failed);  // a block has ended

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t live_, waiting_ = 0, generation_ = 0;
  bool broken_ = false, left_ = false;
};

enum class State : std::uint8_t {
  unstarted,
  ready,
  parked,         // its warp's requests are to be counted first
  yielded,        // spins: others go first
  at_collective,  // waits for the lanes of its mask
  at_converged,   // __activemask()
  at_barrier,
  at_grid_barrier,
  done,
};

// What a thread waits for.
struct Wait {
  const char* name = nullptr;  // "__shfl_sync", "__syncthreads()"
  const char* file = nullptr;  // of barriers
  int line = 0;
  unsigned mask = 0;
  std::uintptr_t pc = 0;  // of warp operations
  void (*work)(void* const*, unsigned) = nullptr;
  void* argument = nullptr;
  unsigned converged = 0;  // out
};

struct Thread {
  Index3 index;
  unsigned linear;
  std::uintptr_t *frames, *first_frame, *frames_end;  // of its calls in a judged program (frames.cpp knows the places)
  State state;
  int slot;        // of its stack, -1 while it has none
  Fiber fiber;     // while it waits
  unsigned spins;  // polls of spin_address
  std::uintptr_t spin_address;
  std::uintptr_t polled;  // by its last volatile load; 0 after an atomic or a volatile store
  std::uint64_t instructions;
};

class BlockRunner {
  // First, and in this order: threadIdx and its kin read them directly in code without instrumentation
  // (include/ridge_simt/indices.h).
  Thread* current_ = nullptr;
  Index3 block_{}, block_dim_{}, grid_dim_{};

 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Runs block `index` of `launch` to its end and adds its counts to `counters`. False after a fault.
  bool run(const Launch& launch, Index3 index, KernelCounters& counters);

  // The calls below come from inside a kernel.
  void barrier(const char* name, const char* file, int line, int predicate = 0);
  void sync(const char* file, int line);  // __syncthreads(), inline in block.cpp
  struct Reduced {
    int count, all, any;
  };
  Reduced reduced() const { return opened_; }  // of the barrier that opened last
  void grid_barrier(std::uintptr_t pc);
  void collective(const char* name, unsigned mask, void (*work)(void* const*, unsigned), void* argument,
                  std::uintptr_t pc);
  unsigned converged(std::uintptr_t pc);
  void misuse(int lane, const char* kind, const char* detail, int error, std::uintptr_t pc);
  unsigned live_lanes() const;
  void fence(int scope);
  void acquire() {
    if (launch_->sanitize) sanitizer_.acquire(current_->linear);
  }
  void access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
              unsigned part);
  // What the hooks have counted last: the access itself follows. Called behind access(), where the thread may have
  // waited.
  void announce(std::uintptr_t address, std::size_t bytes, AccessKind kind) {
    announced_[kind != AccessKind::load] = {address, bytes};
  }
  // Whether an access is still to be counted: not announced, and not of the thread's own stack.
  bool unannounced(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  // Of the last atomic: see Recorder::ticket.
  std::uint32_t ticket() const { return launch_->record ? recorder_.ticket(current_->linear % kWarpSize) : 0; }
  void atomic_used(std::uint32_t ticket) {
    if (launch_->record) recorder_.used(ticket);
  }
  void enter_block(const BlockRecord* b) {
    current_->instructions += b->instructions;
    if (!launch_->record) return;
    Path& path = paths_[current_->linear];
    path.enter(b);
    recorder_.block(current_->linear % kWarpSize, b, path.hash());
    if (target_ != nullptr || recorder_.full()) maybe_park();
  }
  void enter_function(std::uint64_t call_site) {
    if (launch_->record) paths_[current_->linear].call(call_site);
  }
  void leave_function() {
    if (launch_->record) paths_[current_->linear].leave();
  }
  void count_matrix(std::uint64_t operations) { counters_->matrix += operations; }
  void spin(std::uintptr_t address, std::uintptr_t pc);  // an access that waits for other threads perhaps
  void pause(std::uintptr_t pc);
  bool is_global(std::uintptr_t address) const { return memory_.contains(address) || program_.in_data(address); }
  bool is_shared(std::uintptr_t address) const { return address - shared_begin_ < shared_bytes_; }
  std::uintptr_t shared_begin() const { return shared_begin_; }
  [[noreturn]] void fault(Fault f);
  // After a segmentation fault at `address`: on a stack of its own, from a signal handler's return.
  [[noreturn]] void crashed(std::uintptr_t address, std::uintptr_t pc);
  void* emergency_stack() const { return emergency_stack_.get() + kEmergencyBytes; }

  // A function's frame was not what it had been; or the calls are too many.
  void frame_fault(std::uintptr_t pc, bool too_deep);
  Pipeline& pipeline();  // of the current thread
  bool in_kernel() const { return current_ != nullptr; }
  const Thread& thread() const { return *current_; }
  const Launch& launch() const { return *launch_; }
  Index3 block_index() const { return block_; }

  static BlockRunner* current();  // of the calling OS thread, or nullptr

 private:
  static constexpr std::size_t kEmergencyBytes = 256 * 1024;
  struct Slot {   // a stack
    Fiber fiber;  // between two threads that use it
    bool made = false;
  };
  static void fiber_main(void* self);
  void arrive(const char* name, const char* file, int line);
  void settle_waits();
  void begin(const Launch& launch, Index3 index, KernelCounters& counters);
  void number_threads(Index3 shape);
  // What a warp's turn ended with: all its lanes wait or are done, some spin, some can go on after other warps' turns.
  enum class Turn { over, spins, paused };
  Turn run_warp(unsigned warp, bool paused);
  bool run_lanes(unsigned warp);
  Thread* next_unstarted();
  [[gnu::always_inline]] void resume(Thread& t);
  void prepare(Thread& t);
  [[gnu::always_inline]] void leave() {  // from a fiber to the scheduler
    fiber_switch(current_->fiber, scheduler_);
  }
  [[gnu::always_inline]] void wait(State state) {
    current_->state = state;
    waits_ |= 1u << static_cast<unsigned>(state);
    leave();
  }
  unsigned lane_at(unsigned i) const;
  Wait& wait_of(const Thread& t) { return waits_of_[t.linear]; }
  const Wait& wait_of(const Thread& t) const { return waits_of_[t.linear]; }
  const Path& path_of(const Thread& t) const { return paths_[t.linear]; }
  Thread* lane(unsigned warp, unsigned l) {
    unsigned linear = warp * kWarpSize + l;
    return linear < thread_count_ ? &threads_[linear] : nullptr;
  }

  // block_warp.cpp
  bool release_collectives(unsigned warp);
  bool release_converged(unsigned warp);
  bool release_parked(unsigned warp);
  void check_collectives(unsigned warp);
  void maybe_park();

  bool release_barrier();
  bool release_grid_barrier();
  void check_progress();

  // block_faults.cpp
  Fault fault_of(const Thread& t) const;
  void stop(Fault f);  // a fault found by the scheduler
  void classify(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
                unsigned part);
  void out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  void foreign_memory(unsigned bytes, bool store, std::uintptr_t pc);  // `allocation_` is not of a reachable device
  void deadlock();
  std::string describe(const Thread& t) const;

  void record(std::uint64_t address, unsigned bytes, Op op, std::uintptr_t pc, unsigned part) {
    if (!launch_->record) return;
    unsigned l = current_->linear % kWarpSize;
    std::uint64_t path = paths_[current_->linear].hash();
    if (!program_.graph) path = repetition(l, pc, part);
    recorder_.access(l, Request::pack(static_cast<std::uint32_t>(pc - program_.base), part, bytes, op), path, address);
    if (!program_.graph && recorder_.position(l) >= Recorder::kFull) wait(State::parked);
  }
  Recorder::Warp recorded_warp(unsigned warp) const {
    const unsigned threads = thread_count_ - warp * kWarpSize;
    return {warp, threads >= kWarpSize ? ~0u : (1u << threads) - 1};
  }
  std::uint64_t repetition(unsigned lane, std::uintptr_t pc, unsigned part);

  const Launch* launch_ = nullptr;
  std::uint64_t linear_block_ = 0;
  KernelCounters* counters_ = nullptr;
  const Thread* last_ = nullptr;  // the thread that ran last, for reports of work functions
  bool faulted_ = false;

  std::vector<Thread> threads_;
  std::vector<Wait> waits_of_;  // by linear index, like paths_: what barriers and ends of threads need stays compact
  std::vector<Path> paths_;
  std::uint32_t paused_ = 0;  // warps whose turn was not over
  unsigned waits_ = 0;        // kinds of waiting that lanes of the running warp began: bits of State
  unsigned at_barrier_ = 0, at_grid_barrier_ = 0;
  Wait barrier_;  // of the first thread that came; the others' wait_of() is written by settle_waits()
  std::vector<const Thread*> strays_;  // came to another barrier
  unsigned thread_count_ = 0;
  Index3 shape_{0, 0, 0};  // that threads_ are numbered for
  unsigned done_ = 0;
  unsigned warp_ = 0, warp_next_ = 0;  // the warp that runs, and its next lane position to start
  std::uint64_t order_ = 0;
  Reduced reduced_{}, opened_{};  // of the threads that wait; of the barrier that opened last

  // Lanes of the running warp that come to `target_` stop there, so that a request's lanes are counted together.
  const Path* target_ = nullptr;
  Path target_path_;
  bool no_parking_ = false;

  Fiber scheduler_;
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  char* stacks_ = nullptr;
  unsigned guarded_ = 0;  // slots that have a guard page
  std::unique_ptr<char[]> emergency_stack_;

  Recorder recorder_;
  CacheModel cache_;
  Sanitizer sanitizer_;
  std::unordered_map<std::uint64_t, std::uint64_t> repetitions_;

  // Of the current thread: neither another thread's, nor what lies above its kernel's first frame.
  [[noreturn]] void foreign_stack(std::uintptr_t pc);
  bool own_stack(std::uintptr_t address, unsigned bytes) const;
  std::uintptr_t stacks_begin_ = 0, stacks_bytes_ = 0;
  Frames frames_;
  Footprint footprint_;              // of this block
  std::vector<Pipeline> pipelines_;  // of threads, where a kernel uses them
  std::uintptr_t shared_begin_ = 0, shared_bytes_ = 0;
  std::uintptr_t dynamic_shared_ = ~std::uintptr_t{0} - (std::uintptr_t{1} << 20);  // no address is in it by default
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> static_shared_;
  std::vector<std::uint8_t> shared_object_;  // for each byte of the segment: 1 where a program's object is
  const Allocation* allocation_ = nullptr;   // of the last access
  struct Announced {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
  } announced_[2];  // the last load, the last store
  std::chrono::steady_clock::time_point last_progress_;
  std::uint64_t last_progress_count_ = 0;
  const Program& program_;
  DeviceMemory& memory_;
};

}  // namespace ridge::simt
