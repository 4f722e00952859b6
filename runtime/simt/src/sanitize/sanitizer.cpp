#include "sanitize/sanitizer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "device/fault.hpp"
#include "device/memory.hpp"
#include "sanitize/findings.hpp"
#include "sanitize/shadow.hpp"

namespace ridge::simt {

namespace {

constexpr unsigned kLanes = 32, kWarps = 32, kThreads = kLanes * kWarps;

// Last fence of each block: era in the high half, the block's clock in the low one. Blocks that share an entry lose an
// order only in grids of over four million blocks.
constexpr std::size_t kFenceEntries = std::size_t{1} << 22;
std::atomic<std::uint64_t>& fence_of(std::uint64_t block) {
  static auto* table = static_cast<std::atomic<std::uint64_t>*>(std::calloc(kFenceEntries, sizeof(std::uint64_t)));
  if (table == nullptr) std::abort();
  return table[block % kFenceEntries];
}

const char* name(AccessKind k) { return k == AccessKind::load ? "load" : k == AccessKind::store ? "store" : "atomic"; }
const char* name(Seen::Kind k) { return k == Seen::load ? "load" : k == Seen::store ? "store" : "atomic"; }
Seen::Kind kind_of(AccessKind k) {
  return k == AccessKind::load ? Seen::load : k == AccessKind::store ? Seen::store : Seen::atomic;
}

// Between two chunks of shared memory's cells; see State::shared_chunk.
constexpr std::size_t kSharedChunks = 256;

}  // namespace

struct Sanitizer::State {
  // The block that runs.
  const char* kernel = "";
  std::uint64_t launch = 0, block = 0;
  unsigned block_index[3] = {}, block_dim[3] = {1, 1, 1};
  unsigned thread_count = 0;
  std::uint32_t shared_era = 0, global_era = 0, grid_epoch = 0;

  // Its clock ticks at every synchronisation; an access carries the time.
  std::uint32_t clock = 1;
  std::uint32_t last_barrier = 1;
  std::uint32_t full_sync[kWarps] = {};  // last meeting of all of a warp's lanes
  std::uint32_t known[kWarps][kLanes][kLanes] =
      {};                     // [warp][lane][other]: what lane knows of other, by chains of meetings
  bool partial[kWarps] = {};  // known[warp] is in use
  std::uint32_t fence_time[kThreads] = {};
  std::uint32_t acquire_time[kWarps] = {};
  bool fenced = false, acquired = false;
  bool acquiring[kThreads] = {};  // the thread's last access was an atomic or a volatile load

  Chunk* shared_chunks[kSharedChunks] = {};
  GlobalShadow* global = nullptr;

  // A conflict that waits for the next call: a store may turn out to write what was there, a load to begin a loop of
  // atomicCAS. At most one, of the last access.
  bool pending = false;
  LaneAccess pending_access{};
  Seen pending_other;
  unsigned char before[16] = {};

  // Loads that follow each other without a gap, as the pieces of a struct copy do.
  struct Run {
    std::uintptr_t end = 0;
    std::uint32_t pc = 0;
    unsigned thread = 0;
    bool initialised = false;  // some piece was
    unsigned gap = 0;          // uninitialised bytes before `end`
    bool suspect = false;      // `first` is to be reported unless the next piece shows that it is padding
    LaneAccess first{};
  } run;

  // Uninitialised reads wait for the next barrier: where a race explains them, the race is the report.
  std::vector<LaneAccess> suspects;
  std::vector<std::uint32_t> raced;  // places of reported races

  // Plain loads that an atomic of the same thread and address follows at once: the starts of atomicCAS loops.
  std::vector<std::uint32_t> loop_loads;
  LaneAccess last_load{};

  void access(const LaneAccess& a);
  bool visit(Cell& cell, const Seen& now, Seen& conflict);
  bool in_conflict(const Seen& old, const Seen& now) const;
  bool ordered(const Seen& old, const Seen& now) const;
  bool excused(const Seen& old, const Seen& now) const;
  bool stale(const Seen& reader) const;
  bool begins_loop(std::uint32_t pc) const {
    return std::find(loop_loads.begin(), loop_loads.end(), pc) != loop_loads.end();
  }
  void add_reader(Cell& cell, const Seen& now);
  void refresh(Cell& cell, bool shared) const;
  Chunk& chunk(std::uintptr_t address, bool shared);
  template <class F>
  void for_cells(const LaneAccess& a, F f);
  void check_initialised(const LaneAccess& a, unsigned written);
  void settle();
  void settle_run();
  void report_race(const LaneAccess& a, const Seen& other);
  void suspect_uninitialised(const LaneAccess& a);
  void report_uninitialised(const LaneAccess& a);
  void settle_all();
  Place place(const LaneAccess& a) const;
  void index_of(unsigned thread, unsigned out[3]) const;
};

Sanitizer::Sanitizer() = default;
Sanitizer::~Sanitizer() = default;

// ---- order ----

bool Sanitizer::State::ordered(const Seen& old, const Seen& now) const {
  if (old.block != now.block) {
    if (!acquired) return false;
    std::uint64_t fence = fence_of(old.block).load(std::memory_order_acquire);
    return fence >> 32 == global_era && static_cast<std::uint32_t>(fence) > old.time;
  }
  if (old.thread == now.thread || old.time < last_barrier) return true;
  unsigned warp = now.thread / kLanes;
  if (old.thread / kLanes == warp) {
    if (old.time < full_sync[warp]) return true;
    if (partial[warp] && old.time < known[warp][now.thread % kLanes][old.thread % kLanes]) return true;
  }
  return fenced && fence_time[old.thread] > old.time && acquire_time[warp] > old.time;
}

bool Sanitizer::State::excused(const Seen& old, const Seen& now) const {
  const bool old_strong = old.kind == Seen::atomic || old.is_volatile;
  const bool now_strong = now.kind == Seen::atomic || now.is_volatile;
  if (old.kind == Seen::atomic || now.kind == Seen::atomic) {
    if (old_strong && now_strong) return true;
    return old.kind == Seen::load && (old.block != now.block || begins_loop(old.pc));
  }
  if (!old_strong || !now_strong || (old.kind == Seen::store && now.kind == Seen::store)) return false;
  return old.block != now.block || old.thread / kLanes != now.thread / kLanes;
}

bool Sanitizer::State::in_conflict(const Seen& old, const Seen& now) const {
  if (old.kind == Seen::none || (old.kind == Seen::load && now.kind == Seen::load)) return false;
  return !ordered(old, now) && !excused(old, now);
}

// A reader of this block that nothing can conflict with any more.
bool Sanitizer::State::stale(const Seen& r) const {
  if (r.kind == Seen::none) return true;
  return r.block == static_cast<std::uint32_t>(block) && (r.time < last_barrier);
}

// Two readers suffice to find a later store by any thread: two blocks, else two warps, else two lanes.
void Sanitizer::State::add_reader(Cell& cell, const Seen& now) {
  Seen &a = cell.readers[0], &b = cell.readers[1];
  auto same = [&](const Seen& r) { return r.kind != Seen::none && r.thread == now.thread && r.block == now.block; };
  auto warp = [](const Seen& r) { return std::uint64_t{r.block} << 16 | r.thread / kLanes; };
  if (same(a)) {
    a = now;
  } else if (same(b)) {
    b = now;
  } else if (stale(a)) {
    a = now;
  } else if (stale(b)) {
    b = now;
  } else if (a.block == b.block && now.block != a.block) {
    b = now;
  } else if (warp(a) == warp(b) && warp(now) != warp(a)) {
    b = now;
  } else if (warp(a) == warp(now) && a.time < full_sync[now.thread / kLanes] && a.block == now.block) {
    a = now;
  } else if (warp(b) == warp(now) && b.time < full_sync[now.thread / kLanes] && b.block == now.block) {
    b = now;
  }
}

// ---- cells ----

void Sanitizer::State::refresh(Cell& cell, bool shared) const {
  const std::uint32_t era = shared ? shared_era : global_era;
  if (cell.era == era) return;
  cell.era = era;
  cell.split = cell.same_value = cell.written = false;
  cell.writer.kind = cell.readers[0].kind = cell.readers[1].kind = Seen::none;
}

// Shared memory is an OS thread's: the low bits of an address tell its bytes apart.
Chunk& Sanitizer::State::chunk(std::uintptr_t address, bool shared) {
  if (!shared) return global->chunk(global->index(address));
  Chunk*& c = shared_chunks[address / Chunk::kBytes % kSharedChunks];
  if (c == nullptr) c = Chunk::make();
  return *c;
}

template <class F>
void Sanitizer::State::for_cells(const LaneAccess& a, F f) {
  const bool part = a.bytes < 4;
  const std::uintptr_t end = a.address + a.bytes;
  for (std::uintptr_t word = a.address / 4 * 4; word < end; word += 4) {
    Chunk& c = chunk(word, a.shared);
    Cell& cell = c.words[word % Chunk::kBytes / 4];
    if (!a.shared)
      while (cell.locked.exchange(true, std::memory_order_acquire)) {
      }
    refresh(cell, a.shared);
    if (!part && !cell.split) {
      f(cell, 4u);
    } else {
      Cell* bytes = c.byte_cells() + word % Chunk::kBytes;
      if (!cell.split) {
        for (unsigned i = 0; i < 4; ++i) {
          bytes[i].era = cell.era;
          bytes[i].same_value = cell.same_value;
          bytes[i].written = cell.written;
          bytes[i].writer = cell.writer;
          bytes[i].readers[0] = cell.readers[0];
          bytes[i].readers[1] = cell.readers[1];
        }
        cell.split = true;
      }
      for (std::uintptr_t at = std::max(word, a.address); at < std::min(word + 4, end); ++at) f(bytes[at - word], 1u);
    }
    if (!a.shared) cell.locked.store(false, std::memory_order_release);
  }
}

// True where `now` conflicts with what the cell knows; then notes `now` there.
bool Sanitizer::State::visit(Cell& cell, const Seen& now, Seen& conflict) {
  bool found = false;
  auto meet = [&](const Seen& old) {
    if (found || !in_conflict(old, now)) return;
    found = true;
    conflict = old;
  };
  if (now.kind == Seen::load) {
    if (!cell.same_value) meet(cell.writer);
    add_reader(cell, now);
    return found;
  }
  meet(cell.writer);
  meet(cell.readers[0]);
  meet(cell.readers[1]);
  cell.writer = now;
  cell.readers[0].kind = cell.readers[1].kind = Seen::none;
  cell.same_value = false;
  return found;
}

// ---- accesses ----

void Sanitizer::State::access(const LaneAccess& a) {
  if (a.kind == AccessKind::atomic && last_load.bytes != 0 && last_load.thread == a.thread &&
      last_load.address == a.address && !begins_loop(last_load.pc))
    loop_loads.push_back(last_load.pc);
  if (pending) settle();
  last_load.bytes = 0;
  if (a.kind == AccessKind::load) last_load = a;
  // A load that polls may wait, after this call, until another thread has signalled: it has acquired by the next call.
  if (acquiring[a.thread % kThreads]) acquire_time[a.thread / kLanes % kWarps] = clock;
  acquiring[a.thread % kThreads] = a.kind == AccessKind::atomic || (a.is_volatile && a.kind == AccessKind::load);
  acquired |= acquiring[a.thread % kThreads];
  const Seen now{
      a.pc,         clock, static_cast<std::uint32_t>(block), static_cast<std::uint16_t>(a.thread), kind_of(a.kind),
      a.is_volatile};
  Seen other;
  bool conflict = false;
  unsigned written = 0;
  const bool writes = a.kind != AccessKind::load;
  for_cells(a, [&](Cell& cell, unsigned bytes) {
    Seen found;
    if (visit(cell, now, found) && !conflict) {
      conflict = true;
      other = found;
    }
    if (cell.written) written += bytes;
    if (writes) cell.written = true;
  });

  if (!a.shared) {
    if (global->tracked(a.address)) {
      written = global->written(a.address, a.bytes);
      if (writes) global->mark(a.address, a.bytes);
    } else {
      written = a.bytes;
    }
  }
  if (a.kind != AccessKind::store) check_initialised(a, written);
  if (!conflict) return;
  if (a.kind == AccessKind::store || (a.kind == AccessKind::load && other.kind == Seen::atomic)) {
    pending = true;
    pending_access = a;
    pending_other = other;
    if (a.kind == AccessKind::store) std::memcpy(before, reinterpret_cast<const void*>(a.address), a.bytes);
  } else {
    report_race(a, other);
  }
}

// Decides on the last conflict, now that its access is done and the next one is known.
void Sanitizer::State::settle() {
  pending = false;
  const LaneAccess& p = pending_access;
  if (p.kind == AccessKind::load) {
    if (begins_loop(p.pc)) return;
  } else if (std::memcmp(before, reinterpret_cast<const void*>(p.address), p.bytes) == 0) {
    for_cells(p, [](Cell& cell, unsigned) { cell.same_value = true; });
    return;
  }
  report_race(p, pending_other);
}

// Struct copies read padding and members that were never set: small gaps beside initialised pieces are theirs.
void Sanitizer::State::check_initialised(const LaneAccess& a, unsigned written) {
  // New memory is filled with 0xFF. Anything else was written after all, by library code that no hook sees.
  const auto* bytes = reinterpret_cast<const unsigned char*>(a.address);
  if (written == 0 && std::any_of(bytes, bytes + a.bytes, [](unsigned char b) { return b != 0xFF; })) written = a.bytes;
  constexpr unsigned kPadding = 7;
  const bool follows = run.end == a.address && run.pc == a.pc && run.thread == a.thread && a.kind == AccessKind::load;
  if (!follows) {
    settle_run();
    run = {a.address, a.pc, a.thread, false, 0, false, {}};
  }
  run.end += a.bytes;
  if (written != 0) {
    run.initialised = true;
    run.suspect = false;
    run.gap = 0;
    return;
  }
  run.gap += a.bytes;
  if (run.gap > kPadding) {
    suspect_uninitialised(run.suspect ? run.first : a);
    run.suspect = false;
  } else if (!run.initialised && !run.suspect) {
    run.suspect = true;
    run.first = a;
  }
}

void Sanitizer::State::settle_run() {
  if (run.suspect) suspect_uninitialised(run.first);
  run = {};
}

void Sanitizer::State::suspect_uninitialised(const LaneAccess& a) {
  if (std::find(raced.begin(), raced.end(), a.pc) != raced.end()) return;
  for (const LaneAccess& s : suspects)
    if (s.pc == a.pc && s.shared == a.shared) return;
  suspects.push_back(a);
}

// At barriers and the block's end: nothing is left open.
void Sanitizer::State::settle_all() {
  if (pending) settle();
  settle_run();
  for (const LaneAccess& a : suspects) report_uninitialised(a);
  suspects.clear();
}

// ---- reports ----

void Sanitizer::State::index_of(unsigned thread, unsigned out[3]) const {
  out[0] = thread % block_dim[0];
  out[1] = thread / block_dim[0] % block_dim[1];
  out[2] = thread / block_dim[0] / block_dim[1];
}

Place Sanitizer::State::place(const LaneAccess& a) const {
  Place p;
  p.pc = a.pc;
  p.block = block;
  std::memcpy(p.block_index, block_index, sizeof block_index);
  index_of(a.thread, p.thread);
  p.what = name(a.kind);
  return p;
}

void Sanitizer::State::report_race(const LaneAccess& a, const Seen& other) {
  const bool same_block = other.block == static_cast<std::uint32_t>(block);
  const char* kind = a.shared ? "race on shared memory" : same_block ? "race on global memory" : "race between blocks";
  for (std::uint32_t pc : {a.pc, other.pc}) {
    if (std::find(raced.begin(), raced.end(), pc) == raced.end()) raced.push_back(pc);
    std::erase_if(suspects, [pc](const LaneAccess& s) { return s.pc == pc; });
  }
  if (seen_before(kind, a.pc, other.pc)) return;
  Finding f;
  f.kind = kind;
  f.kernel = kernel;
  f.race = true;
  f.at = place(a);
  f.other.pc = other.pc;
  f.other.block = other.block;
  index_of(other.thread, f.other.thread);
  f.other.what = name(other.kind);
  if (!same_block)
    f.detail = "blocks run in any order: use atomics, or end the kernel between the two";
  else if (a.thread / kLanes == other.thread / kLanes)
    f.detail =
        "nothing orders the two: lanes of a warp do not run in step; __syncwarp() or __syncthreads() between them";
  else
    f.detail = "nothing orders the two: __syncthreads() between them";
  if ((a.kind == AccessKind::atomic) != (other.kind == Seen::atomic))
    f.detail += " (atomics do not protect against accesses that are none)";
  report_finding(std::move(f));
}

void Sanitizer::State::report_uninitialised(const LaneAccess& a) {
  std::string kind = std::string("uninitialised ") + (a.shared ? "shared " : "global ") + name(a.kind) + " of " +
                     std::to_string(a.bytes) + (a.bytes == 1 ? " byte" : " bytes");
  if (seen_before(kind.c_str(), a.pc, 0)) return;
  Finding f;
  f.kind = kind;
  f.kernel = kernel;
  f.at = place(a);
  if (a.shared) {
    f.detail = "this block has not written there; shared memory holds garbage at a block's start";
  } else {
    const Allocation& owner = DeviceMemory::instance().owner(a.address);
    f.detail = "nothing was ever written there: byte " + std::to_string(a.address - owner.begin) +
               " of an allocation of " + std::to_string(owner.bytes) + " bytes; cudaMalloc does not clear memory";
  }
  report_finding(std::move(f));
}

// ---- what the block runner calls ----

void Sanitizer::begin_block(const char* kernel, std::uint64_t launch, std::uint64_t block,
                            const unsigned block_index[3], const unsigned block_dim[3]) {
  if (!state_) {
    state_ = std::make_unique<State>();
    state_->global = &GlobalShadow::instance();
  }
  State& s = *state_;
  s.kernel = kernel;
  s.launch = launch;
  s.block = block;
  std::memcpy(s.block_index, block_index, sizeof s.block_index);
  std::memcpy(s.block_dim, block_dim, sizeof s.block_dim);
  s.thread_count = block_dim[0] * block_dim[1] * block_dim[2];
  ++s.shared_era;
  s.grid_epoch = 0;
  s.global_era = static_cast<std::uint32_t>(launch * 0x9E3779B1u) | 1u;
  s.clock = s.last_barrier = 1;
  std::fill(std::begin(s.full_sync), std::end(s.full_sync), 0u);
  for (unsigned w = 0; w < kWarps; ++w)
    if (std::exchange(s.partial[w], false)) std::memset(s.known[w], 0, sizeof s.known[w]);
  if (std::exchange(s.fenced, false)) std::fill(std::begin(s.fence_time), std::end(s.fence_time), 0u);
  std::fill(std::begin(s.acquire_time), std::end(s.acquire_time), 0u);
  if (s.acquired) std::fill(std::begin(s.acquiring), std::end(s.acquiring), false);
  s.acquired = s.pending = false;
  s.run = {};
  s.suspects.clear();
}

void Sanitizer::access(const LaneAccess& a) { state_->access(a); }

void Sanitizer::barrier() {
  State& s = *state_;
  s.settle_all();
  s.last_barrier = ++s.clock;
}

void Sanitizer::warp_sync(unsigned warp, unsigned mask) {
  State& s = *state_;
  if (s.pending) s.settle();
  s.settle_run();
  const std::uint32_t now = ++s.clock;
  const unsigned lanes = std::min(kLanes, s.thread_count - warp * kLanes);
  if (mask == (lanes == kLanes ? ~0u : (1u << lanes) - 1)) {
    s.full_sync[warp] = now;
    return;
  }
  s.partial[warp] = true;
  std::uint32_t joined[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    for (unsigned o = 0; o < kLanes; ++o) joined[o] = std::max(joined[o], s.known[warp][l][o]);
  }
  for (unsigned l = 0; l < kLanes; ++l)
    if ((mask >> l & 1) != 0) joined[l] = now;
  for (unsigned l = 0; l < kLanes; ++l)
    if ((mask >> l & 1) != 0) std::memcpy(s.known[warp][l], joined, sizeof joined);
}

void Sanitizer::grid_sync() {
  State& s = *state_;
  s.settle_all();
  s.last_barrier = ++s.clock;
  ++s.grid_epoch;
  s.global_era = static_cast<std::uint32_t>(s.launch * 0x9E3779B1u + s.grid_epoch * 0x85EBCA6Bu) | 1u;
}

void Sanitizer::fence(unsigned thread, int scope) {
  State& s = *state_;
  if (s.pending) s.settle();
  s.settle_run();
  s.fenced = true;
  const std::uint32_t now = ++s.clock;
  s.fence_time[thread % kThreads] = now;
  if (scope >= 1) fence_of(s.block).store(std::uint64_t{s.global_era} << 32 | now, std::memory_order_release);
}

void Sanitizer::acquire(unsigned thread) {
  State& s = *state_;
  if (s.pending) s.settle();
  s.settle_run();
  s.acquired = true;
  s.acquire_time[thread / kLanes % kWarps] = ++s.clock;
}

void Sanitizer::end_block() {
  State& s = *state_;
  s.settle_all();
}

}  // namespace ridge::simt
