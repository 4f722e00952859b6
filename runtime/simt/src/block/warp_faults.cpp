// Faults of the threads of a block: what is reported, and who waits where.
#include <cstdio>
#include <cstring>

#include "block/warp_scheduler.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Fault WarpScheduler::fault_of(const Thread& t) const {
  Fault f;
  f.kernel = launch_->kernel;
  const unsigned b[3] = {block_.x, block_.y, block_.z};
  const unsigned i[3] = {t.index.x, t.index.y, t.index.z};
  std::memcpy(f.block, b, sizeof b);
  std::memcpy(f.thread, i, sizeof i);
  return f;
}

void WarpScheduler::stop(Fault f) {
  report_fault(f);
  faulted_ = true;
}

void WarpScheduler::fault(Fault f) {
  Fault where = fault_of(*current_);
  f.kernel = where.kernel;
  std::memcpy(f.block, where.block, sizeof f.block);
  std::memcpy(f.thread, where.thread, sizeof f.thread);
  if (f.error == 0) f.error = 700;  // cudaErrorIllegalAddress
  stop(std::move(f));
  leave();
  __builtin_unreachable();
}

void WarpScheduler::misuse(int blamed, const char* kind, const char* detail, int error, std::uintptr_t pc,
                           Cause cause) {
  if (current_ == nullptr) {  // a work function: its lanes wait, the scheduler runs
    const Thread* t = last_;
    if (blamed >= 0)
      if (const Thread* named = threads_.lane(last_->linear / kWarpSize, static_cast<unsigned>(blamed))) t = named;
    Fault f = fault_of(*t);
    f.cause = cause;
    f.kind = kind;
    f.detail = detail;
    f.pc = static_cast<std::uint32_t>(threads_.wait_of(*t).pc - program_.base);
    f.error = error;
    stop(std::move(f));
    return;
  }
  Fault f;
  f.cause = cause;
  f.kind = kind;
  f.detail = detail;
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  f.error = error;
  fault(std::move(f));
}

void WarpScheduler::undefined_value(int lane, const char* kind, const char* detail) {
  const Thread& t = *threads_.lane(last_->linear / kWarpSize, static_cast<unsigned>(lane));
  const Fault where = fault_of(t);
  Finding f;
  f.cause = Cause::inactive_lane;
  f.kind = kind;
  f.detail = detail;
  f.kernel = where.kernel;
  std::memcpy(f.at.block_index, where.block, sizeof where.block);
  std::memcpy(f.at.thread, where.thread, sizeof where.thread);
  f.at.pc = static_cast<std::uint32_t>(threads_.wait_of(t).pc - program_.base);
  if (!seen_before(kind, f.at.pc, 0)) report_finding(std::move(f));
}

// Threads at a barrier do not note where they wait: most come to the same one.
const Wait& WarpScheduler::place_of(const Thread& t) const {
  return threads_.state(t) == ThreadState::at_barrier && !barrier_.is_divergent(t) ? barrier_.place()
                                                                                   : threads_.wait_of(t);
}

std::string WarpScheduler::describe(const Thread& t) const {
  const Wait& wait = place_of(t);
  std::string text =
      "thread (" + std::to_string(t.index.x) + "," + std::to_string(t.index.y) + "," + std::to_string(t.index.z) + ")";
  if (threads_.state(t) == ThreadState::done) return text + " has returned";
  text += std::string(" waits at ") + (wait.name != nullptr ? wait.name : "a barrier");
  std::string where = wait.file != nullptr ? file_name(wait.file) + ":" + std::to_string(wait.line)
                                           : source_of(static_cast<std::uint32_t>(wait.pc - program_.base));
  return where.empty() ? text : text + " (" + where + ")";
}

// Every lane of the warp waits; those at a warp operation can't get on.
bool WarpScheduler::check_collectives(unsigned warp) {
  bool held = false;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = threads_.lane(warp, l);
    if (t == nullptr || threads_.state(*t) != ThreadState::at_collective) continue;
    for (unsigned m = 0; m < kWarpSize; ++m) {
      Thread* other = threads_.lane(warp, m);
      if ((threads_.wait_of(*t).mask >> m & 1) == 0 || other == nullptr || threads_.state(*other) == ThreadState::done)
        continue;
      if (threads_.state(*other) == ThreadState::at_memory_barrier ||
          threads_.state(*other) == ThreadState::at_named_barrier ||
          threads_.state(*other) == ThreadState::at_cluster_barrier) {
        held = true;
        continue;
      }
      const bool same = threads_.state(*other) == ThreadState::at_collective &&
                        threads_.wait_of(*other).work == threads_.wait_of(*t).work;
      if (same && threads_.wait_of(*other).mask == threads_.wait_of(*t).mask) continue;
      Fault f = fault_of(*t);
      char mask[16], others[16];
      std::snprintf(mask, sizeof mask, "0x%08x", threads_.wait_of(*t).mask);
      std::snprintf(others, sizeof others, "0x%08x", threads_.wait_of(*other).mask);
      if (same) {
        f.cause = Cause::warp_mask;
        f.kind = std::string(threads_.wait_of(*t).name) + ": different masks";
        f.detail =
            "lane " + std::to_string(l) + " gives " + mask + ", lane " + std::to_string(m) + " of it gives " + others;
      } else {
        f.cause = Cause::warp_mask;
        f.kind =
            std::string(threads_.wait_of(*t).name) + ": lane " + std::to_string(m) + " of the mask waits elsewhere";
        f.detail = "the mask is " + std::string(mask) + ", and " + describe(*other);
      }
      f.pc = static_cast<std::uint32_t>(threads_.wait_of(*t).pc - program_.base);
      f.error = 719;
      stop(std::move(f));
      return held;
    }
  }
  return held;
}

}  // namespace ridge::simt
