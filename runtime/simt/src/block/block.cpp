#include "block/block.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block/crash.hpp"
#include "count/warp_log.hpp"
#include "device/tls.hpp"

namespace ridge::simt {

// The only thread-local of the emulator, so that all else in the program's TLS segment is __shared__ memory.
__thread BlockRunner* tls_runner = nullptr;

// Things that have come further in any block: barriers, ends of threads. See check_progress().
static std::atomic<std::uint64_t> progress{0};

namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kSlotBytes = kFiberStackBytes + kGuardBytes;
// Stacks begin at different offsets in their pages, or all would compete for the same cache sets.
constexpr std::size_t kStaggerBytes = 5 * 64;
constexpr unsigned char kSharedPoison = 0xFF;  // a NaN in every floating-point format
constexpr unsigned kSpins = 256;               // atomics and volatile loads after which a thread lets others run
constexpr unsigned kMaxGuards = 24000;  // in all blocks together: each splits a mapping, and the kernel limits these
std::atomic<unsigned> guards{0};

void program_tls(std::uintptr_t& begin, std::uintptr_t& bytes) {
  struct Found {
    std::uintptr_t begin, bytes;
  } found{0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS)
            *static_cast<Found*>(out) = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data),
                                         info->dlpi_phdr[i].p_memsz};
        return 1;
      },
      &found);
  begin = found.begin;
  bytes = found.bytes;
}

void poison(std::uintptr_t begin, std::uintptr_t end) {
  if (begin < end) std::memset(reinterpret_cast<void*>(begin), kSharedPoison, end - begin);
}

}  // namespace

BlockRunner* BlockRunner::current() { return tls_runner; }

BlockRunner::BlockRunner() : program_(Program::instance()), memory_(DeviceMemory::instance()) {
  threads_.resize(kMaxThreadsPerBlock);
  waits_of_.resize(kMaxThreadsPerBlock);
  paths_.resize(kMaxThreadsPerBlock);
  slots_.resize(kMaxThreadsPerBlock);
  emergency_stack_ = std::make_unique_for_overwrite<char[]>(kEmergencyBytes);
  stacks_bytes_ = kSlotBytes * kMaxThreadsPerBlock;
  void* p = mmap(nullptr, stacks_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr, "ridge: no memory for the stacks of a block's threads\n");
    std::_Exit(3);
  }
  stacks_ = static_cast<char*>(p);
  stacks_begin_ = reinterpret_cast<std::uintptr_t>(p);
  program_tls(shared_begin_, shared_bytes_);
  tls_runner = this;
  use_signal_stack();

  // Static shared memory is the TLS segment without the emulator's own pointer and without the dynamic area.
  auto self = reinterpret_cast<std::uintptr_t>(&tls_runner);
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> holes = {{self, self + sizeof tls_runner}};
  if (ridge_dynamic_shared != nullptr) {
    dynamic_shared_ = reinterpret_cast<std::uintptr_t>(ridge_dynamic_shared());
    holes.emplace_back(dynamic_shared_, dynamic_shared_ + kDynamicSharedMax);
    std::sort(holes.begin(), holes.end());
  }
  std::uintptr_t at = shared_begin_;
  for (const auto& [begin, end] : holes) {
    if (at < begin) static_shared_.emplace_back(at, begin);
    at = end;
  }
  if (at < shared_begin_ + shared_bytes_) static_shared_.emplace_back(at, shared_begin_ + shared_bytes_);

  shared_object_.assign(shared_bytes_ + 16, program_.shared.empty() ? 1 : 0);
  for (const Object& o : program_.shared)
    std::fill(shared_object_.begin() + static_cast<std::ptrdiff_t>(std::min(o.begin, shared_bytes_)),
              shared_object_.begin() + static_cast<std::ptrdiff_t>(std::min(o.end, shared_bytes_)), std::uint8_t{1});
}

BlockRunner::~BlockRunner() {
  tls_runner = nullptr;
  munmap(stacks_, stacks_bytes_);
  guards -= guarded_;
}

void BlockRunner::fiber_main(void* self) {
  auto& r = *static_cast<BlockRunner*>(self);
  for (;;) {
    Thread* t = r.current_;
    r.launch_->run(r.launch_->closure);
    t->state = State::done;
    ++r.done_;
    // A fiber that ends one thread takes the next one, which saves two switches.
    if (Thread* next = r.next_unstarted()) {
      next->slot = t->slot;
      r.frames_.give(*next);
      next->state = State::ready;
      r.current_ = next;
      continue;
    }
    r.free_slots_.push_back(t->slot);
    r.leave();
  }
}

// Lanes run in an order drawn from the seed: code that needs a certain order is wrong, and shows it.
unsigned BlockRunner::lane_at(unsigned i) const { return i ^ static_cast<unsigned>(order_ % kWarpSize); }

Thread* BlockRunner::next_unstarted() {
  while (warp_next_ < kWarpSize) {
    unsigned linear = warp_ * kWarpSize + lane_at(warp_next_++);
    if (linear < thread_count_ && threads_[linear].state == State::unstarted) return &threads_[linear];
  }
  return nullptr;
}

Pipeline& BlockRunner::pipeline() {
  if (pipelines_.size() < thread_count_) pipelines_.resize(thread_count_);
  return pipelines_[current_->linear];
}

// Gives a thread that starts a fiber.
void BlockRunner::prepare(Thread& t) {
  if (t.slot < 0) {
    t.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  frames_.give(t);
  auto number = static_cast<std::size_t>(t.slot);
  Slot& slot = slots_[number];
  if (slot.made) {
    t.fiber = slot.fiber;
    return;
  }
  fiber_create(t.fiber, stacks_ + number * kSlotBytes + kGuardBytes,
               kFiberStackBytes - number * kStaggerBytes % kGuardBytes, &fiber_main, this);
  slot.made = true;
}

inline void BlockRunner::resume(Thread& t) {
  if (t.state == State::unstarted) prepare(t);
  t.state = State::ready;
  current_ = &t;
  fiber_switch(scheduler_, t.fiber);
  last_ = current_;  // not t where its fiber went on with other threads
  if (last_->state == State::done) slots_[static_cast<std::size_t>(last_->slot)].fiber = last_->fiber;
  current_ = nullptr;
}

// Runs every lane that can run, once. False where none could.
bool BlockRunner::run_lanes(unsigned warp) {
  bool ran = false;
  warp_next_ = 0;
  for (unsigned i = 0; i < kWarpSize && !faulted_; ++i) {
    Thread* t = lane(warp, lane_at(i));
    if (t == nullptr) continue;
    if (t->state == State::unstarted) warp_next_ = i + 1;
    if (t->state == State::unstarted || t->state == State::ready) {
      resume(*t);
      ran = true;
    }
  }
  return ran;
}

// Warps take turns where many requests have been counted too, so that they meet in the caches as they do on a GPU.
BlockRunner::Turn BlockRunner::run_warp(unsigned warp, bool paused) {
  constexpr unsigned kSpinRounds = 4;  // of a warp before other warps go on
  constexpr auto bit = [](State s) { return 1u << static_cast<unsigned>(s); };
  constexpr unsigned kWithinWarp =
      bit(State::parked) | bit(State::yielded) | bit(State::at_collective) | bit(State::at_converged);
  warp_ = warp;
  waits_ = paused ? kWithinWarp : 0;  // its lanes may wait for each other since the last turn
  for (unsigned spin_rounds = 0; !faulted_;) {
    run_lanes(warp);
    if (faulted_) break;
    if ((waits_ & kWithinWarp) == 0) {
      if (launch_->record) recorder_.flush(*counters_, cache_, recorded_warp(warp));
      return Turn::over;
    }
    if (release_collectives(warp)) continue;
    if (release_parked(warp)) {
      if (no_parking_) continue;
      return Turn::paused;
    }
    if (release_converged(warp)) continue;
    bool spins = false;
    for (unsigned l = 0; l < kWarpSize; ++l)
      if (Thread* t = lane(warp, l); t != nullptr && t->state == State::yielded) {
        t->state = State::ready;
        spins = true;
      }
    if (spins && ++spin_rounds < kSpinRounds) continue;
    if (!spins) {
      check_collectives(warp);
      if (!faulted_ && launch_->record) recorder_.flush(*counters_, cache_, recorded_warp(warp));
      return Turn::over;
    }
    break;
  }
  // Lanes that spin keep what was recorded so far: it can't be matched later.
  if (!faulted_ && launch_->record) recorder_.flush(*counters_, cache_, recorded_warp(warp));
  return Turn::spins;
}

void BlockRunner::number_threads(Index3 shape) {
  shape_ = shape;
  Index3 at{0, 0, 0};
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].index = at;
    threads_[i].linear = i;
    if (++at.x == shape.x) {
      at.x = 0;
      if (++at.y == shape.y) {
        at.y = 0;
        ++at.z;
      }
    }
  }
}

void BlockRunner::begin(const Launch& launch, Index3 index, KernelCounters& counters) {
  for (Pipeline& p : pipelines_) p.clear();
  launch_ = &launch;
  block_ = index;
  block_dim_ = launch.block;
  grid_dim_ = launch.grid;
  counters_ = &counters;
  faulted_ = false;
  done_ = at_barrier_ = at_grid_barrier_ = 0;
  allocation_ = nullptr;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  linear_block_ = index.x + std::uint64_t{launch.grid.x} * (index.y + std::uint64_t{launch.grid.y} * index.z);
  order_ = launch.order == 0 ? 0 : ((linear_block_ + launch.order) * 0x9E3779B97F4A7C15ull) >> 32;

  for (; guarded_ < thread_count_ && guards < kMaxGuards; ++guarded_, ++guards)
    mprotect(stacks_ + guarded_ * kSlotBytes, kGuardBytes, PROT_NONE);
  free_slots_.clear();
  for (unsigned i = 0; i < thread_count_; ++i) free_slots_.push_back(static_cast<int>(thread_count_ - 1 - i));
  if (launch.block != shape_) number_threads(launch.block);
  for (unsigned i = 0; i < thread_count_; ++i) {
    Thread& t = threads_[i];
    t.state = State::unstarted;
    t.slot = -1;
    t.spins = 0;
    t.polled = 0;
  }
  if (program_.graph)
    for (unsigned i = 0; i < thread_count_; ++i) threads_[i].instructions = 0;
  if (launch.record)
    for (unsigned i = 0; i < thread_count_; ++i) paths_[i].reset();

  // __shared__ memory starts with garbage, not with the last block's values.
  for (const auto& [from, to] : static_shared_) poison(from, to);
  poison(dynamic_shared_, dynamic_shared_ + launch.dynamic_shared);

  if (launch.record) {
    cache_.begin_block(launch.l1_bytes);
    ++counters.blocks;
    counters.warps += (thread_count_ + kWarpSize - 1) / kWarpSize;
    repetitions_.clear();
    if (launch.warps) {
      if (counters.warp == nullptr) counters.warp = std::make_shared<WarpLog>();
      counters.warp->begin_block(linear_block_);
    }
  }
  if (launch.sanitize) {
    const unsigned b[3] = {index.x, index.y, index.z};
    const unsigned d[3] = {launch.block.x, launch.block.y, launch.block.z};
    sanitizer_.begin_block(launch.kernel, launch.serial, linear_block_, b, d);
  }
}

bool BlockRunner::run(const Launch& launch, Index3 index, KernelCounters& counters) {
  begin(launch, index, counters);
  unsigned warps = (thread_count_ + kWarpSize - 1) / kWarpSize;
  unsigned first = static_cast<unsigned>((order_ >> 5) % warps);
  last_progress_count_ = ~std::uint64_t{0};
  paused_ = 0;
  while (!faulted_) {
    bool spins = false, again = false;
    for (unsigned i = 0; i < warps && !faulted_; ++i) {
      const unsigned w = (first + i) % warps;
      const Turn turn = run_warp(w, (paused_ >> w & 1) != 0);
      spins |= turn == Turn::spins;
      again |= turn == Turn::paused;
      paused_ = (paused_ & ~(1u << w)) | (turn == Turn::over ? 0u : 1u << w);
    }
    if (faulted_ || done_ == thread_count_) break;
    if (again) continue;
    if (release_barrier() || release_grid_barrier()) continue;
    if (spins)
      check_progress();
    else if (!faulted_)
      deadlock();
  }
  ++progress;
  if (launch.record) cache_.end_block(linear_block_, counters, *launch.l2);
  if (launch.sanitize) sanitizer_.end_block();
  if (launch.footprint != nullptr) {
    launch.footprint->merge(footprint_);
    footprint_.clear();
  }
  if (faulted_) {
    for (auto& slot : slots_) slot.made = false;  // their stacks hold abandoned calls
    recorder_.clear();
  }
  return !faulted_;
}

bool BlockRunner::release_barrier() {
  if (at_barrier_ == 0 || at_barrier_ + done_ != thread_count_) return false;
  if (!strays_.empty()) {
    settle_waits();
    const Thread* first = &threads_[0];
    while (first->state == State::done || std::find(strays_.begin(), strays_.end(), first) != strays_.end()) ++first;
    const Thread* stray = strays_.back();
    Fault f = fault_of(*stray);
    f.kind = "divergent barrier";
    f.detail = describe(*first) + ", " + describe(*stray) + ": all threads of a block must come to the same barrier";
    f.file = wait_of(*stray).file;
    f.line = wait_of(*stray).line;
    f.error = 719;
    stop(std::move(f));
    return false;
  }
  for (unsigned i = 0; i < thread_count_; ++i)
    if (threads_[i].state == State::at_barrier) threads_[i].state = State::ready;
  at_barrier_ = 0;
  opened_ = reduced_;
  ++counters_->barriers;
  ++progress;
  if (launch_->sanitize) sanitizer_.barrier();
  return true;
}

bool BlockRunner::release_grid_barrier() {
  if (faulted_ || at_grid_barrier_ == 0 || at_grid_barrier_ + done_ != thread_count_) return false;
  if (!launch_->grid_barrier->wait()) {
    deadlock();
    return false;
  }
  for (unsigned i = 0; i < thread_count_; ++i)
    if (threads_[i].state == State::at_grid_barrier) threads_[i].state = State::ready;
  at_grid_barrier_ = 0;
  ++progress;
  if (launch_->sanitize) {
    sanitizer_.barrier();
    sanitizer_.grid_sync();
  }
  return true;
}

inline void BlockRunner::arrive(const char* name, const char* file, int line) {
  if (at_barrier_++ == 0) {
    barrier_ = {};
    barrier_.name = name;
    barrier_.file = file;
    barrier_.line = line;
    reduced_ = {0, 1, 0};
    strays_.clear();
  } else if (line != barrier_.line || (file != barrier_.file && std::strcmp(file, barrier_.file) != 0)) {
    Wait& w = wait_of(*current_);
    w.name = name;
    w.file = file;
    w.line = line;
    strays_.push_back(current_);
  }
  current_->spins = 0;
}

void BlockRunner::barrier(const char* name, const char* file, int line, int predicate) {
  arrive(name, file, line);
  reduced_.count += predicate != 0;
  reduced_.all &= predicate != 0;
  reduced_.any |= predicate != 0;
  wait(State::at_barrier);
}

void BlockRunner::grid_barrier(std::uintptr_t pc) {
  Wait& w = wait_of(*current_);
  w.name = "grid.sync()";
  w.file = nullptr;
  w.pc = pc;
  ++at_grid_barrier_;
  wait(State::at_grid_barrier);
}

// Polling is one address again and again.
void BlockRunner::spin(std::uintptr_t address, std::uintptr_t pc) {
  if (address != current_->spin_address) {
    current_->spin_address = address;
    current_->spins = 0;
  }
  if (++current_->spins % kSpins == 0) pause(pc);
}

void BlockRunner::pause(std::uintptr_t pc) {
  wait_of(*current_).name = "a polling loop";
  wait_of(*current_).file = nullptr;
  wait_of(*current_).pc = pc;
  wait(State::yielded);
}

void BlockRunner::fence(int scope) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (launch_->sanitize) sanitizer_.fence(current_->linear, scope);
}

bool BlockRunner::own_stack(std::uintptr_t address, unsigned bytes) const {
  const std::uintptr_t begin = stacks_begin_ + static_cast<std::uintptr_t>(current_->slot) * kSlotBytes;
  const std::uintptr_t end =
      current_->frames == current_->first_frame ? begin + kSlotBytes : current_->first_frame[1] + 16;
  return address - begin < end - begin && bytes <= end - address;
}

void BlockRunner::access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
                         unsigned part) {
  if (address - stacks_begin_ < stacks_bytes_) {  // local memory
    if (!own_stack(address, bytes)) foreign_stack(pc);
    return;
  }
  const bool store = kind != AccessKind::load;
  std::uint64_t where = address;
  Op op;
  bool shared = false;
  if (memory_.contains(address)) {
    if (allocation_ == nullptr || address < allocation_->begin || address + bytes > allocation_->end ||
        (store && !allocation_->writable)) {
      allocation_ = &memory_.owner(address);
      if (address + bytes > allocation_->end || (store && !allocation_->writable))
        out_of_bounds(address, bytes, store, pc);
      if ((launch_->reachable >> allocation_->device & 1) == 0) foreign_memory(bytes, store, pc);
    }
    where = address - memory_.base();
    op = kind == AccessKind::load ? Op::global_load : kind == AccessKind::store ? Op::global_store : Op::global_red;
    if (launch_->footprint != nullptr) {
      Footprint& f = footprint_;
      (kind == AccessKind::load    ? f.read
       : kind == AccessKind::store ? f.written
                                   : f.atomic)
          .add(address, address + bytes);
    }
  } else if (address - shared_begin_ < shared_bytes_) {
    where = address - shared_begin_;
    op = kind == AccessKind::load ? Op::shared_load : kind == AccessKind::store ? Op::shared_store : Op::shared_atom;
    shared = true;
    std::uintptr_t offset = address - dynamic_shared_;
    if (offset < kDynamicSharedMax ? offset + bytes > launch_->dynamic_shared
                                   : (shared_object_[where] & shared_object_[where + bytes - 1]) == 0)
      out_of_bounds(address, bytes, store, pc);
  } else {
    classify(address, bytes, kind, is_volatile, pc, part);
    return;
  }
  if (address % bytes != 0) {
    Fault f;
    f.kind = std::string("misaligned ") +
             (kind == AccessKind::atomic ? "atomic"
              : store                    ? "store"
                                         : "load") +
             " of " + std::to_string(bytes) + " bytes";
    f.detail = "the address is not a multiple of " + std::to_string(bytes) + ": a GPU stops here";
    f.pc = static_cast<std::uint32_t>(pc - program_.base);
    f.error = 716;  // cudaErrorMisalignedAddress
    fault(std::move(f));
  }
  if (launch_->sanitize)
    sanitizer_.access(
        {address, bytes, kind, is_volatile, static_cast<std::uint32_t>(pc - program_.base), current_->linear, shared});
  // A volatile load that repeats the thread's last one is counted once: how often a thread polls depends on the
  // machine.
  const bool polls = is_volatile && op == Op::global_load && address == current_->polled;
  if (!polls) record(where, bytes, op, pc, part);
  if (is_volatile || kind == AccessKind::atomic) {
    current_->polled = kind == AccessKind::load ? address : 0;
    spin(address, pc);
  }
}

// Without block records: how often this lane has passed the access.
std::uint64_t BlockRunner::repetition(unsigned l, std::uintptr_t pc, unsigned part) {
  return ++repetitions_[(pc << 24) ^ (std::uint64_t{part} << 10) ^ ((current_->linear / kWarpSize) << 5) ^ l];
}

bool GridBarrier::wait() {
  std::unique_lock lock(mutex_);
  if (left_ || broken_) return false;
  std::uint64_t generation = generation_;
  if (++waiting_ == live_) {
    waiting_ = 0;
    ++generation_;
    wake_.notify_all();
    return true;
  }
  wake_.wait(lock, [&] { return generation_ != generation || left_ || broken_; });
  return generation_ != generation;
}

void GridBarrier::leave(bool failed) {
  std::lock_guard lock(mutex_);
  --live_;
  if (failed) broken_ = true;
  if (waiting_ != 0) left_ = true;
  wake_.notify_all();
}

void BlockRunner::check_progress() {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(10);
  constexpr std::chrono::milliseconds kDrawn(10);
  std::uint64_t now = progress.load();
  if (now != last_progress_count_) {
    last_progress_count_ = now;
    last_progress_ = steady_clock::now();
    return;
  }
  const auto waited = steady_clock::now() - last_progress_;
  if (launch_->more && waited > kDrawn) launch_->more();
  if (waited < kPatience) return;
  for (unsigned i = 0; i < thread_count_; ++i) {
    Thread& t = threads_[i];
    if (t.state != State::ready) continue;
    Fault f = fault_of(t);
    f.kind = "endless wait";
    f.detail =
        "threads have polled memory for 10 s and no block came further: what they wait for is written by "
        "nobody, or by a block that cannot start before this one ends";
    f.pc = static_cast<std::uint32_t>(wait_of(t).pc - program_.base);
    f.error = 702;  // cudaErrorLaunchTimeout
    stop(std::move(f));
    return;
  }
}

// __syncthreads(): here, so that a thread's way to the switch is one call.
inline void BlockRunner::sync(const char* file, int line) {
  arrive("__syncthreads()", file, line);
  wait(State::at_barrier);
}

}  // namespace ridge::simt

namespace ridge_simt {
void barrier(const char* file, int line);
void barrier(const char* file, int line) { ridge::simt::tls_runner->sync(file, line); }
}  // namespace ridge_simt
