#include "sanitize/sanitizer.hpp"

#include <algorithm>

#include "sanitize/cells.hpp"
#include "sanitize/copies.hpp"
#include "sanitize/order.hpp"
#include "sanitize/races.hpp"
#include "sanitize/running_block.hpp"
#include "sanitize/shadow.hpp"
#include "sanitize/uninitialised.hpp"

namespace ridge::simt {

namespace {

Seen::Kind kind_of(AccessKind k) {
  return k == AccessKind::load ? Seen::load : k == AccessKind::store ? Seen::store : Seen::atomic;
}

}  // namespace

struct Sanitizer::State {
  RunningBlock block;
  Order order;
  Cells cells{order};
  UninitialisedReads reads{block};
  CopiesUnderWay copies{block};
  Races races{block, order, cells, reads};
  GlobalShadow& global = GlobalShadow::instance();

  void access(const LaneAccess& a);
  // The last access is over, and no piece of a struct copy follows.
  void settle() {
    races.settle();
    reads.end_run();
  }
  // At barriers and the block's end: nothing is left open.
  void settle_all() {
    settle();
    reads.report();
  }
};

Sanitizer::Sanitizer() = default;
Sanitizer::~Sanitizer() = default;
const RunningBlock& Sanitizer::block() const { return state_->block; }

void Sanitizer::State::access(const LaneAccess& a) {
  races.begin(a);
  order.access(a);
  const Seen now{a.pc,
                 order.now(),
                 static_cast<std::uint32_t>(block.number),
                 static_cast<std::uint16_t>(a.thread),
                 kind_of(a.kind),
                 a.is_volatile};
  unsigned written = 0;
  const bool writes = a.kind != AccessKind::load;
  cells.each(a, [&](Cell& cell, unsigned bytes) {
    races.visit(cell, now);
    if (cell.written) written += bytes;
    if (writes) cell.written = true;
  });
  if (!a.shared) {
    if (global.tracked(a.address)) {
      written = global.written(a.address, a.bytes);
      if (writes) global.mark(a.address, a.bytes);
    } else {
      written = a.bytes;
    }
  }
  if (copies.check(a))
    reads.explained(a.pc);
  else if (a.kind != AccessKind::store)
    reads.check(a, written);
  races.end(a);
}

void Sanitizer::begin_block(const char* kernel, std::uint64_t launch, std::uint64_t block,
                            const unsigned block_index[3], const unsigned block_dim[3]) {
  if (!state_) state_ = std::make_unique<State>();
  State& s = *state_;
  s.block.kernel = kernel;
  s.block.number = block;
  std::copy(block_index, block_index + 3, s.block.index);
  std::copy(block_dim, block_dim + 3, s.block.shape);
  s.order.begin_block(launch, block, block_dim[0] * block_dim[1] * block_dim[2]);
  s.races.begin_block();
  s.reads.begin_block();
  s.copies.begin_block();
}

void Sanitizer::access(const LaneAccess& a) { state_->access(a); }

void Sanitizer::barrier() {
  state_->settle_all();
  state_->order.barrier();
  state_->copies.barrier();
}

void Sanitizer::copy_begun(std::uintptr_t to, unsigned bytes, unsigned thread, std::uint32_t pc) {
  state_->copies.begun(to, bytes, thread, pc);
}

void Sanitizer::copy_arrived(std::uintptr_t to, unsigned bytes, unsigned thread) {
  state_->copies.arrived(to, bytes, thread);
}

void Sanitizer::bulk_written(std::uintptr_t to, std::size_t bytes) {
  state_->settle();
  for (std::uintptr_t at = to; at < to + bytes; at += 16) {
    LaneAccess a{};
    a.address = at;
    a.bytes = static_cast<unsigned>(std::min<std::size_t>(to + bytes - at, 16));
    a.kind = AccessKind::store;
    a.shared = true;
    state_->cells.each(a, [](Cell& cell, unsigned) {
      cell.written = true;
      cell.writer.kind = cell.readers[0].kind = cell.readers[1].kind = Seen::none;
    });
  }
}

void Sanitizer::warp_sync(unsigned warp, unsigned mask) {
  state_->settle();
  state_->order.warp_sync(warp, mask);
}

void Sanitizer::grid_sync() {
  state_->settle_all();
  state_->order.grid_sync();
}

void Sanitizer::fence(unsigned thread, int scope) {
  state_->settle();
  state_->order.fence(thread, scope);
}

void Sanitizer::acquire(unsigned thread) {
  state_->settle();
  state_->order.acquire(thread);
}

void Sanitizer::end_block() { state_->settle_all(); }

}  // namespace ridge::simt
