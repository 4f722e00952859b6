#include "block/warp_scheduler.hpp"

namespace ridge::simt {

WarpScheduler::WarpScheduler()
    : program_(Program::instance()), stacks_(kMaxThreadsPerBlock), profiler_(program_, threads_) {}

void WarpScheduler::begin_block(const Launch& launch, Index3 index, KernelCounters& counters) {
  launch_ = &launch;
  block_ = index;
  block_dim_ = launch.block;
  grid_dim_ = launch.grid;
  counters_ = &counters;
  faulted_ = false;
  done_ = 0;
  paused_ = held_ = 0;
  linear_block_ = index.x + std::uint64_t{launch.grid.x} * (index.y + std::uint64_t{launch.grid.y} * index.z);
  order_ = launch.order == 0 ? 0 : ((linear_block_ + launch.order) * 0x9E3779B97F4A7C15ull) >> 32;
  // Lanes run in an order drawn from the seed: code that needs a certain order is wrong, and shows it.
  lane_order_ = static_cast<unsigned>(order_ % kWarpSize);
  threads_.begin(launch.block, program_.graph, launch.record);
  stacks_.begin(threads_.size());
  barrier_.begin_block();
  if (launch.record) profiler_.begin_block(launch, linear_block_, counters);
  if (launch.sanitize) {
    const unsigned b[3] = {index.x, index.y, index.z};
    const unsigned d[3] = {launch.block.x, launch.block.y, launch.block.z};
    sanitizer_.begin_block(launch.kernel, launch.serial, linear_block_, b, d);
  }
}

void WarpScheduler::end_block() {
  if (launch_->record) {
    profiler_.end_block(*launch_, linear_block_);
    counters_->longest_thread = std::max(counters_->longest_thread, threads_.most_instructions());
  }
  if (launch_->sanitize) sanitizer_.end_block();
  if (faulted_) {
    stacks_.abandon();
    profiler_.drop();
  }
}

WarpScheduler::Round WarpScheduler::run_round() {
  const unsigned warps = threads_.warps(), first = static_cast<unsigned>((order_ >> 5) % warps);
  Round round;
  for (unsigned i = 0; i < warps && !faulted_; ++i) {
    const unsigned w = (first + i) % warps;
    const Turn turn = run_warp(w, (paused_ >> w & 1) != 0);
    round.spins |= turn == Turn::spins;
    round.paused |= turn == Turn::paused;
    paused_ = (paused_ & ~(1u << w)) | (turn == Turn::over ? 0u : 1u << w);
  }
  return round;
}

// A turn ends, too, where many requests have been counted, so that warps meet in the caches as they do on a GPU.
WarpScheduler::Turn WarpScheduler::run_warp(unsigned warp, bool paused) {
  constexpr unsigned kSpinRounds = 4;  // polls of a warp's lanes before other warps go on
  constexpr auto bit = [](ThreadState s) { return 1u << static_cast<unsigned>(s); };
  constexpr unsigned kWithinWarp = bit(ThreadState::parked) | bit(ThreadState::yielded) |
                                   bit(ThreadState::at_collective) | bit(ThreadState::at_converged);
  // Its lanes may wait for each other since the last turn.
  waits_ = paused || (held_ >> warp & 1) != 0 ? kWithinWarp : 0;
  held_ &= ~(1u << warp);
  for (unsigned spin_rounds = 0; !faulted_;) {
    run_lanes(warp);
    if (faulted_) break;
    if ((waits_ & kWithinWarp) == 0) {
      flush(warp);
      return Turn::over;
    }
    if (release_collectives(warp)) continue;
    if (woken_ && has_woken(warp)) continue;
    if (profiler_.release_parked(warp)) {
      if (profiler_.postponed()) continue;
      return Turn::paused;
    }
    if (release_converged(warp)) continue;
    const bool spins = release_yielded(warp);
    if (spins && ++spin_rounds < kSpinRounds) continue;
    if (!spins) {
      if (check_collectives(warp)) held_ |= 1u << warp;
      flush(warp);
      return Turn::over;
    }
    break;
  }
  // The records of lanes that poll can't be matched later.
  flush(warp);
  return Turn::spins;
}

// Bit i of the result is bit i ^ order of the mask: lanes in the drawn order.
static unsigned in_order(unsigned mask, unsigned order) {
  constexpr unsigned kEven[] = {0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF};
  for (unsigned k = 0; k < 5; ++k)
    if ((order >> k & 1) != 0) mask = (mask & kEven[k]) << (1u << k) | (mask >> (1u << k) & kEven[k]);
  return mask;
}

// Runs every lane that can run, once.
void WarpScheduler::run_lanes(unsigned warp) {
  first_lane_ = warp * kWarpSize;
  runnable_ = in_order(threads_.runnable(warp), lane_order_);
  while (runnable_ != 0 && !faulted_) {
    fiber_switch(scheduler_, next_lane());
    last_ = current_;  // another one where the fiber went on with other threads
    if (threads_.state(running_) == ThreadState::done) stacks_.keep(last_->slot, threads_.fiber(running_));
    current_ = nullptr;
  }
}

void WarpScheduler::start(Thread& t, int slot) {
  t.slot = slot;
  t.polled = 0;
  frames_.give(t);
}

// Gives a thread that starts a fiber.
void WarpScheduler::prepare(unsigned linear) {
  const int slot = stacks_.take();
  start(threads_[linear], slot);
  threads_.fiber(linear) = stacks_.fiber(slot, &fiber_main, this);
}

void WarpScheduler::fiber_main(void* self) {
  auto& s = *static_cast<WarpScheduler*>(self);
  for (;;) {
    const int slot = s.current_->slot;
    s.launch_->run(s.launch_->closure);
    s.threads_.state(s.running_) = ThreadState::done;
    ++s.done_;
    // A fiber that ends one thread takes the next one that starts, which saves two switches.
    if (s.runnable_ != 0 && s.threads_.state(s.peek_lane()) == ThreadState::unstarted) {
      s.take_lane();
      s.start(*s.current_, slot);
      s.threads_.state(s.running_) = ThreadState::ready;
      continue;
    }
    s.stacks_.give_back(slot);
    s.leave();
  }
}

}  // namespace ridge::simt
