#include "block/block.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace ridge::simt {

// The only thread-local of the emulator, so that all else in the program's TLS segment is __shared__ memory.
__thread BlockRunner* tls_runner = nullptr;

BlockRunner* BlockRunner::current() { return tls_runner; }

BlockRunner::BlockRunner()
    : memory_(DeviceMemory::instance()),
      shared_(program_, &tls_runner, sizeof tls_runner),
      emergency_stack_(std::make_unique_for_overwrite<char[]>(kEmergencyBytes)) {
  tls_runner = this;
  use_signal_stack();
}

BlockRunner::~BlockRunner() { tls_runner = nullptr; }

void BlockRunner::begin(const Launch& launch, Index3 index, KernelCounters& counters) {
  begin_block(launch, index, counters);
  for (Pipeline& p : pipelines_) p.clear();
  if (launch.sanitize && !async_ && make_async != nullptr) async_ = make_async(*this);
  if (async_) async_->begin_block();
  woken_ = false;
  std::fill(std::begin(noted_), std::end(noted_), 0u);
  shared_.poison(launch.dynamic_shared);
  at_grid_barrier_ = 0;
  allocation_ = nullptr;
  progress_.begin_block();
  published_ = 0;
  const std::uint64_t block =
      index.x + std::uint64_t{launch.grid.x} * (index.y + std::uint64_t{launch.grid.y} * index.z);
  hold_at_ = launch.hold ? 1 + static_cast<unsigned>((block + launch.order) * 0x9E3779B97F4A7C15ull >> 40) % 4 : 0;
}

bool BlockRunner::run(const Launch& launch, Index3 index, KernelCounters& counters) {
  begin(launch, index, counters);
  while (!faulted_) {
    const Round round = run_round();
    if (faulted_ || done_ == threads_.size()) break;
    bool moves = round.paused || release_barrier() || release_grid_barrier();
    if (async_ && async_->progress(moves)) moves = true;
    moves = std::exchange(woken_, false) || moves;
    if (!moves && !round.spins && async_ && async_->timed_out()) moves = true;
    if (cluster_ != nullptr && !faulted_) {
      const auto next = cluster_->pass(!moves && round.spins, !moves && !round.spins);
      if (next == ClusterTurns::Next::failed) faulted_ = true;
      moves = moves || (!round.spins && next == ClusterTurns::Next::go) || std::exchange(woken_, false);
    }
    if (moves || faulted_) continue;
    if (round.spins)
      check_progress();
    else
      deadlock();
  }
  if (async_) async_->end_block(faulted_);
  ProgressWatch::note();
  end_block();
  if (launch.footprint != nullptr) {
    launch.footprint->merge(footprint_);
    footprint_.clear();
  }
  return !faulted_;
}

// ---- barriers ----

void BlockRunner::barrier(const char* name, const char* file, int line, int predicate) {
  barrier_.arrive(*current_, threads_, name, file, line);
  barrier_.reduce(predicate);
  wait(ThreadState::at_barrier);
}

bool BlockRunner::release_barrier() {
  if (barrier_.waiting() == 0 || barrier_.waiting() + done_ != threads_.size()) return false;
  if (!barrier_.divergent().empty() && !launch_->divergent_barriers) {
    divergent_barrier();
    return false;
  }
  threads_.release(ThreadState::at_barrier);
  barrier_.open();
  ++counters_->barriers;
  ProgressWatch::note();
  if (launch_->sanitize) {
    sanitizer_.barrier();
    if (async_) async_->block_barrier();
  }
  return true;
}

void BlockRunner::grid_barrier(std::uintptr_t pc) {
  Wait& w = threads_.wait_of(*current_);
  w.name = "grid.sync()";
  w.file = nullptr;
  w.pc = pc;
  ++at_grid_barrier_;
  wait(ThreadState::at_grid_barrier);
}

bool BlockRunner::release_grid_barrier() {
  if (faulted_ || at_grid_barrier_ == 0 || at_grid_barrier_ + done_ != threads_.size()) return false;
  if (!launch_->grid_barrier->wait()) {
    deadlock();
    return false;
  }
  threads_.release(ThreadState::at_grid_barrier);
  at_grid_barrier_ = 0;
  ++counters_->barriers;
  ProgressWatch::note();
  if (launch_->sanitize) {
    sanitizer_.barrier();
    sanitizer_.grid_sync();
  }
  return true;
}

void BlockRunner::fence(int scope) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (launch_->sanitize) sanitizer_.fence(current_->linear, scope);
}

// ---- waiting for what is not a thread of the block ----

void BlockRunner::wait_for(ThreadState state, const char* name, const void* object, unsigned number,
                           std::uintptr_t pc) {
  Wait& w = threads_.wait_of(*current_);
  w.name = name;
  w.file = nullptr;
  w.pc = pc;
  w.object = object;
  w.mask = number;
  wait(state);
}

// The address with these 18 bits that lies closest behind one that the kernel has named.
std::uintptr_t BlockRunner::address_of_bits(unsigned bits) const {
  constexpr unsigned kSpan = 1u << 18;
  unsigned best = bits, distance = kSpan;
  for (const unsigned noted : noted_) {
    if (noted == 0) continue;
    const unsigned from = noted - 1, behind = (bits - from) % kSpan;
    if (behind >= distance || !holds_shared(shared_window() + from + behind, 16)) continue;
    best = from + behind;
    distance = behind;
  }
  return shared_window() + best;
}

// ---- polling ----

void BlockRunner::spin(std::uintptr_t address, AccessKind kind, std::uintptr_t pc) {
  constexpr unsigned kSpins = 256;   // accesses to one address after which a thread lets others run
  constexpr unsigned kLooks = 4096;  // volatile loads after which it does, for a thread that polls several addresses
  Thread& t = *current_;
  if (barrier_.number() != t.spin_barrier) {
    t.spin_barrier = barrier_.number();
    t.spins = t.looks = 0;
  }
  if (address != t.spin_address) {
    t.spin_address = address;
    t.spins = 0;
  }
  if (kind == AccessKind::store) t.looks = 0;
  const bool looked = kind == AccessKind::load && ++t.looks % kLooks == 0;
  if (++t.spins % kSpins == 0 || looked) pause(pc);
}

// Half-published states, such as a tile's sum whose prefix is still to come, last long enough for other blocks to meet
// them.
void BlockRunner::publish() {
  constexpr unsigned kFirst = 3;  // a quarter of all blocks has a later number, and is never held
  if (published_ < kFirst && ++published_ == hold_at_) launch_->hold();
}

void BlockRunner::pause(std::uintptr_t pc) {
  Wait& w = threads_.wait_of(*current_);
  w.name = "a polling loop";
  w.file = nullptr;
  w.pc = pc;
  wait(ThreadState::yielded);
}

void BlockRunner::check_progress() {
  constexpr std::chrono::seconds kPatience(10);
  constexpr std::chrono::milliseconds kDrawn(10);
  if (launch_->failed != nullptr && launch_->failed->load(std::memory_order_relaxed)) {
    faulted_ = true;  // a block that this one waits for may never come further; the fault is reported there
    return;
  }
  const auto idle = progress_.idle();
  if (launch_->more && idle > kDrawn) launch_->more();
  if (idle >= kPatience) endless_wait();
}

// __syncthreads(): here, so that a thread's way to the switch is one call.
inline void BlockRunner::sync(const char* file, int line) {
  barrier_.arrive(*current_, threads_, "__syncthreads()", file, line);
  wait(ThreadState::at_barrier);
}

}  // namespace ridge::simt

namespace ridge_simt {
void barrier(const char* file, int line);
void barrier(const char* file, int line) { ridge::simt::tls_runner->sync(file, line); }
}  // namespace ridge_simt
