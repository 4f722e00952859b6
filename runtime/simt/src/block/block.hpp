// Runs the threads of one block on one OS thread. Instrumented code and the functions of device.h call it inside a
// kernel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "block/async_unit.hpp"
#include "block/launch.hpp"
#include "block/pipeline.hpp"
#include "block/progress_watch.hpp"
#include "block/shared_segment.hpp"
#include "block/warp_scheduler.hpp"
#include "count/footprint.hpp"
#include "device/memory.hpp"

namespace ridge::simt {

// Accesses of one thread that the library's headers counted one by one, before the library moves the data.
struct Pieces {
  static constexpr unsigned kMost = 16;
  struct Piece {
    std::uintptr_t address;
    unsigned bytes;
    bool store;
    bool operator==(const Piece&) const = default;
  } piece[kMost];
  unsigned count = 0;
  Piece atomic = {};  // the last one, while nothing has been done with it
  void add(std::uintptr_t address, unsigned bytes, bool store) {
    if (count < kMost) piece[count] = {address, bytes, store};
    if (count <= kMost) ++count;
  }
};

// Layouts of a, b, c and d of a matrix multiplication, and m, n and k.
struct MatrixShape {
  const void* layout[4] = {};
  int size[3] = {};
  bool operator==(const MatrixShape&) const = default;
};

class BlockRunner : public WarpScheduler {
 public:
  BlockRunner();
  ~BlockRunner();

  // Runs block `index` of `launch` to its end and adds its counts to `counters`. False after a fault.
  bool run(const Launch& launch, Index3 index, KernelCounters& counters);
  // The runner of the calling OS thread, or nullptr.
  static BlockRunner* current();

  // The calls below come from inside a kernel. Barriers and fences:
  void sync(const char* file, int line);  // __syncthreads(), inline in block.cpp
  void barrier(const char* name, const char* file, int line, int predicate);
  BlockBarrier::Reduced reduced() const { return barrier_.opened(); }
  void grid_barrier(std::uintptr_t pc);
  void fence(int scope);
  void acquire() {
    if (launch_->sanitize) sanitizer_.acquire(current_->linear);
  }
  // A thread that polls lets others run: at an access that may wait for them, and in __nanosleep.
  void spin(std::uintptr_t address, AccessKind kind, std::uintptr_t pc);
  void pause(std::uintptr_t pc);
  // Counts a store that other blocks may wait for, and holds the block before one of them.
  void publish();

  // What runs beside the threads, and the threads that wait for it: src/hopper.
  // For the sanitizer, which is to see what threads store before a block's first asynchronous operation.
  static inline std::unique_ptr<AsyncUnit> (*make_async)(BlockRunner&) = nullptr;
  AsyncUnit* async() const { return async_.get(); }
  void set_async(std::unique_ptr<AsyncUnit> unit) { async_ = std::move(unit); }
  ClusterTurns* cluster() const { return cluster_; }
  BlockRunner* neighbour(std::uintptr_t address) const {
    return cluster_ == nullptr ? nullptr : cluster_->owner(address);
  }
  void set_cluster(ClusterTurns* turns, unsigned rank) { cluster_ = turns, rank_in_cluster_ = rank; }
  unsigned rank_in_cluster() const { return rank_in_cluster_; }
  void wait_for(ThreadState state, const char* name, const void* object, unsigned number, std::uintptr_t pc);
  // Threads that wait in this state, where which(Wait&) says so, go on.
  template <class F>
  unsigned wake(ThreadState state, F which) {
    unsigned woken = 0;
    for (Thread& t : threads_)
      if (threads_.state(t) == state && which(threads_.wait_of(t))) {
        threads_.state(t) = ThreadState::ready;
        ++woken;
      }
    if (woken != 0) woken_ = true;
    return woken;
  }
  bool woken() const { return woken_; }
  // Something has come further that threads of this launch may wait for.
  static void note_progress() { ProgressWatch::note(); }
  BlockThreads& threads() { return threads_; }
  // Where nobody runs: the thread that ran last.
  const Thread& running_thread() const { return current_ != nullptr ? *current_ : *last_; }
  unsigned live_threads() const { return threads_.size() - done_; }
  std::string describe_thread(const Thread& t) const { return describe(t); }
  const char* kernel_name() const { return launch_->kernel; }
  KernelCounters& counters() { return *counters_; }
  Sanitizer* sanitizer() { return launch_->sanitize ? &sanitizer_ : nullptr; }
  std::uint32_t pc_offset(std::uintptr_t pc) const { return static_cast<std::uint32_t>(pc - program_.base); }
  // A kernel has asked for PTX's address of something in shared memory. Matrix descriptors keep 18 bits of it, and the
  // segment may be longer: it holds the arrays of all kernels.
  void note_address(unsigned offset) { noted_[(offset * 0x9E3779B1u) >> 26] = offset + 1; }
  std::uintptr_t address_of_bits(unsigned bits) const;
  // Bytes of an array in this block's shared memory.
  bool holds_shared(std::uintptr_t address, std::size_t bytes) const {
    return shared_.contains(address) && shared_.contains(address + bytes - 1) &&
           shared_.holds(address, static_cast<unsigned>(bytes), launch_->dynamic_shared);
  }

  // Accesses to memory: block_access.cpp.
  void access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
              unsigned part);
  // Notes what the hooks have counted last: the access itself follows. Called after access(), where the thread may
  // have waited.
  void announce(std::uintptr_t address, std::size_t bytes, AccessKind kind) {
    announced_[kind != AccessKind::load] = {address, bytes};
  }
  // Whether an access is still to be counted: not announced, and not on the thread's own stack.
  bool unannounced(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  // Whether nothing is to be done about it: most accesses end here, without floating-point registers (quick_check.cpp).
  bool settled(std::uintptr_t address, unsigned bytes, bool store) const {
    if (address - announced_[store].address <= announced_[store].bytes &&
        bytes <= announced_[store].bytes - (address - announced_[store].address))
      return true;
    if (address - stacks_.stack_begin(current_->slot) >= kFiberStackBytes || !own_stack(address, bytes)) return false;
    const BlockRecord* b = launch_->record ? threads_.path_of(*current_).block() : nullptr;
    return (b == nullptr || b->local_share == 0) && !(launch_->sanitize && async_);
  }
  // The library's functions, which read and write for a kernel, ask these. True where the bytes lie on the thread's own
  // stack.
  bool is_local(std::uintptr_t address, unsigned bytes) const {
    return stacks_.contains(address) && own_stack(address, bytes);
  }
  // Counts and announces words that all lie on the thread's own stack. False where they do not.
  bool local_words(std::uintptr_t address, std::size_t bytes, AccessKind kind) {
    if (bytes == 0 || bytes > FiberStacks::kSlotBytes || !is_local(address, static_cast<unsigned>(bytes))) return false;
    local_access(static_cast<unsigned>(bytes), kind != AccessKind::load);
    announce(address, bytes, kind);
    return true;
  }
  // In memory that this kernel may use; else a fault. Counts nothing, but of variables.
  void check(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);
  // A block of this cluster whose shared memory is used: it must not have ended.
  void must_run(const BlockRunner& other, std::uintptr_t pc);
  // Nothing that a kernel writes: the program's constants.
  bool is_writable(std::uintptr_t address) const {
    return memory_.contains(address) || shared_.contains(address) || stacks_.contains(address) ||
           program_.in_data(address);
  }
  // The accesses that the current thread announced since its last warp operation.
  Pieces& pieces();
  // The last shape that was found right. Layouts do not change, so lanes that give the same one need no further check.
  MatrixShape& checked_shape() { return checked_shape_; }
  bool is_global(std::uintptr_t address) const { return memory_.contains(address) || program_.in_data(address); }
  bool is_shared(std::uintptr_t address) const { return shared_.contains(address); }
  std::uintptr_t shared_begin() const { return shared_.begin(); }
  // PTX's addresses of shared memory count from here: their low bits are those of pointers, as on a GPU.
  std::uintptr_t shared_window() const { return shared_.begin() & ~std::uintptr_t{1023}; }
  Pipeline& pipeline();  // the current thread's
  void pipeline_copy(void* to, const void* from, unsigned bytes, unsigned zeros, std::uintptr_t pc);
  void pipeline_wait(unsigned left);

  // Other counts.
  // The running thread's last volatile or atomic access was a poll of this address. An atomic repeats only atomics:
  // behind a load, which costs less, it is counted.
  bool repeats_poll(std::uintptr_t address, AccessKind kind) const {
    return current_->polled == address &&
           (kind == AccessKind::load || (kind == AccessKind::atomic && current_->polled_by_atomic));
  }
  // Its last atomic left the memory as it was.
  void polled(std::uintptr_t address) {
    current_->polled = address;
    current_->polled_by_atomic = true;
  }
  std::uint32_t ticket() const { return launch_->record ? profiler_.ticket(*current_) : 0; }
  void atomic_used(std::uint32_t ticket) {
    if (launch_->record) profiler_.atomic_used(ticket);
  }
  void enter_block(const BlockRecord* b) {
    current_->instructions += b->instructions;
    if (launch_->record && profiler_.enter_block(*current_, threads_.path_of(*current_), b)) park();
  }
  void enter_function(std::uint64_t call_site) {
    if (launch_->record) threads_.path_of(*current_).call(call_site);
  }
  void leave_function() {
    if (launch_->record) threads_.path_of(*current_).leave();
  }
  void count_matrix(std::uint64_t operations) { counters_->matrix += operations; }
  // Bytes of global memory that a bulk copy reads or writes, in one piece. `sectors`: the counter of their kind.
  void count_bulk(std::uintptr_t address, std::size_t bytes, bool write, std::uint64_t AsyncCounters::*sectors);
  void count_memory_barrier() { ++counters_->memory_barriers; }

  // Faults: block_faults.cpp.
  // After a segmentation fault at `address`. Runs on the emergency stack, to which the signal handler returns.
  [[noreturn]] void crashed(std::uintptr_t address, std::uintptr_t pc);
  void* emergency_stack() const { return emergency_stack_.get() + kEmergencyBytes; }
  // A function's saved frame has changed, or the calls are too deep.
  void frame_fault(std::uintptr_t pc, bool too_deep);

 private:
  void begin(const Launch& launch, Index3 index, KernelCounters& counters);
  bool release_barrier();
  bool release_grid_barrier();
  void check_progress();

  // Not inline: a switch of fibers makes its function save every register, and hooks are called at every basic block.
  [[gnu::noinline]] void park() { wait(ThreadState::parked); }

  // block_access.cpp
  bool own_stack(std::uintptr_t address, unsigned bytes) const {
    const std::uintptr_t begin = stacks_.slot_begin(current_->slot);
    const std::uintptr_t end =
        current_->frames == current_->first_frame ? begin + FiberStacks::kSlotBytes : current_->first_frame[1] + 16;
    return address - begin < end - begin && bytes <= end - address;
  }
  void local_access(unsigned bytes, bool store);
  void record(std::uint64_t address, unsigned bytes, Op op, std::uintptr_t pc, unsigned part) {
    if (launch_->record && profiler_.access(*current_, threads_.path_of(*current_), address, bytes, op, pc, part))
      park();
  }
  void variable_access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
                       unsigned part);
  [[noreturn]] void out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc);

  // block_faults.cpp
  [[noreturn]] void foreign_stack(std::uintptr_t pc);
  void divergent_barrier();
  void deadlock();
  void endless_wait();

  static constexpr std::size_t kEmergencyBytes = 256 * 1024;
  DeviceMemory& memory_;
  SharedSegment shared_;
  const Allocation* allocation_ = nullptr;  // the allocation of the last access
  MatrixShape checked_shape_;
  struct Announced {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
  } announced_[2];                   // the last load and the last store
  Footprint footprint_;              // the block's
  std::vector<Pieces> pieces_;       // by linear thread index
  std::vector<Pipeline> pipelines_;  // by linear thread index; empty where no kernel uses them
  unsigned at_grid_barrier_ = 0;
  ProgressWatch progress_;
  unsigned published_ = 0,
           hold_at_ = 0;  // stores that other blocks may wait for; the one before which this block is held
  std::unique_ptr<char[]> emergency_stack_;
  unsigned noted_[64] = {};  // PTX's addresses, + 1
  std::unique_ptr<AsyncUnit> async_;
  ClusterTurns* cluster_ = nullptr;
  unsigned rank_in_cluster_ = 0;
};

// crash.cpp. Turns a segmentation fault inside a kernel (a stack that overflows, code without instrumentation) into a
// report, and a division that traps into a GPU's.
void install_crash_handler();
// Gives signals of the calling OS thread a stack of their own.
void use_signal_stack();

}  // namespace ridge::simt
