#include "sanitize/races.hpp"

#include <cstring>
#include <utility>

#include "device/own_text.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

namespace {

constexpr unsigned kLanes = kSanitizedLanes;

const char* kind_name(Seen::Kind k) { return k == Seen::load ? "load" : k == Seen::store ? "store" : "atomic"; }

}  // namespace

bool Races::excused(const Seen& old, const Seen& now) const {
  const bool old_strong = old.kind == Seen::atomic || old.is_volatile;
  const bool now_strong = now.kind == Seen::atomic || now.is_volatile;
  if (old.kind == Seen::atomic || now.kind == Seen::atomic) {
    if (old_strong && now_strong) return true;
    return old.kind == Seen::load && (old.block != now.block || begins_loop(old.pc));
  }
  if (!old_strong || !now_strong || (old.kind == Seen::store && now.kind == Seen::store)) return false;
  return old.block != now.block || old.thread / kLanes != now.thread / kLanes;
}

bool Races::in_conflict(const Seen& old, const Seen& now) const {
  if (old.kind == Seen::none || (old.kind == Seen::load && now.kind == Seen::load)) return false;
  return !order_.ordered(old, now) && !excused(old, now);
}

// Two readers suffice to find a later store by any thread: two blocks, else two warps, else two lanes.
void Races::add_reader(Cell& cell, const Seen& now) const {
  Seen &a = cell.readers[0], &b = cell.readers[1];
  auto same = [&](const Seen& r) { return r.kind != Seen::none && r.thread == now.thread && r.block == now.block; };
  auto warp = [](const Seen& r) { return std::uint64_t{r.block} << 16 | r.thread / kLanes; };
  auto met = [&](const Seen& r) {
    return warp(r) == warp(now) && order_.met_since(r, now.thread / kLanes) && r.block == now.block;
  };
  if (same(a))
    a = now;
  else if (same(b))
    b = now;
  else if (order_.stale(a))
    a = now;
  else if (order_.stale(b))
    b = now;
  else if (a.block == b.block && now.block != a.block)
    b = now;
  else if (warp(a) == warp(b) && warp(now) != warp(a))
    b = now;
  else if (met(a))
    a = now;
  else if (met(b))
    b = now;
}

void Races::begin(const LaneAccess& a) {
  if (a.kind == AccessKind::atomic && last_load_.bytes != 0 && last_load_.thread == a.thread &&
      last_load_.address == a.address && !begins_loop(last_load_.pc))
    loop_loads_.push_back(last_load_.pc);
  settle();
  last_load_.bytes = 0;
  if (a.kind == AccessKind::load) last_load_ = a;
  conflict_ = false;
}

// Notes a conflict of `now` with what the cell knows, then `now` in the cell.
void Races::visit(Cell& cell, const Seen& now) {
  auto meet = [&](const Seen& old) {
    if (conflict_ || !in_conflict(old, now)) return;
    conflict_ = true;
    other_ = old;
  };
  if (now.kind == Seen::load) {
    if (!cell.same_value) meet(cell.writer);
    add_reader(cell, now);
    return;
  }
  meet(cell.writer);
  meet(cell.readers[0]);
  meet(cell.readers[1]);
  cell.writer = now;
  cell.readers[0].kind = cell.readers[1].kind = Seen::none;
  cell.same_value = false;
}

void Races::end(const LaneAccess& a) {
  if (!conflict_) return;
  if (a.kind == AccessKind::store || (a.kind == AccessKind::load && other_.kind == Seen::atomic)) {
    pending_ = true;
    pending_access_ = a;
    pending_other_ = other_;
    if (a.kind == AccessKind::store) std::memcpy(before_, reinterpret_cast<const void*>(a.address), a.bytes);
  } else {
    report(a, other_);
  }
}

void Races::decide() {
  pending_ = false;
  const LaneAccess& p = pending_access_;
  if (p.kind == AccessKind::load) {
    if (begins_loop(p.pc)) return;
  } else if (std::memcmp(before_, reinterpret_cast<const void*>(p.address), p.bytes) == 0) {
    cells_.each(p, [](Cell& cell, unsigned) { cell.same_value = true; });
    return;
  }
  report(p, pending_other_);
}

void Races::report(const LaneAccess& a, const Seen& other) {
  const OwnText text;
  const bool same_block = other.block == static_cast<std::uint32_t>(block_.number);
  const char* kind = a.shared ? "race on shared memory" : same_block ? "race on global memory" : "race between blocks";
  reads_.explained(a.pc);
  reads_.explained(other.pc);
  if (seen_before(kind, a.pc, other.pc)) return;
  Place earlier = block_.place(other.pc, other.thread, kind_name(other.kind));
  earlier.block = other.block;
  std::string detail;
  if (!same_block)
    detail =
        "blocks run in any order. Where a flag or a counter announces the data, put __threadfence() between the two, "
        "and read the flag as volatile or by an atomic. Otherwise use atomics, or end the kernel";
  else if (a.thread / kLanes == other.thread / kLanes)
    detail =
        "nothing says which of the two comes first, since lanes of a warp do not run in step: a __syncthreads() must run "
        "between them (a __syncwarp() where no other warp takes part)";
  else if (a.shared)
    detail = "nothing orders the two: a __syncthreads() must run between them";
  else
    detail =
        "nothing orders the two: a __syncthreads() must run between them, or a __threadfence() before the flag or counter that "
        "announces the data";
  if ((a.kind == AccessKind::atomic) != (other.kind == Seen::atomic))
    detail += " (an atomic does not protect against a plain access)";
  report_finding(block_.race(a.shared ? Cause::race_shared : Cause::race_global, kind, block_.place(a), earlier,
                             std::move(detail)));
}

}  // namespace ridge::simt
