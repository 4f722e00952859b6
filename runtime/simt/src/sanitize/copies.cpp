#include "sanitize/copies.hpp"

#include <utility>

#include "device/own_text.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

void CopiesUnderWay::begun(std::uintptr_t to, unsigned bytes, unsigned thread, std::uint32_t pc) {
  if (words_.empty()) words_.resize(kWords);
  for (std::uintptr_t at = to; at < to + bytes; at += 4) {
    Word& w = word(at);
    if (w.address == 0) ++under_way_;
    w = {at, pc, barriers_, thread};
  }
}

void CopiesUnderWay::arrived(std::uintptr_t to, unsigned bytes, unsigned thread) {
  if (words_.empty()) return;
  for (std::uintptr_t at = to; at < to + bytes; at += 4) {
    Word& w = word(at);
    if (w.address != at || w.thread != thread) continue;
    w.address = 0;
    --under_way_;
  }
}

bool CopiesUnderWay::check(const LaneAccess& a) const {
  if (under_way_ == 0 || !a.shared || a.kind == AccessKind::store) return false;
  for (std::uintptr_t at = a.address / 4 * 4; at < a.address + a.bytes; at += 4) {
    const Word& w = word(at);
    if (w.address != at || (w.thread != a.thread && w.barriers == barriers_)) continue;
    report(a, w);
    return true;
  }
  return false;
}

void CopiesUnderWay::report(const LaneAccess& a, const Word& copy) const {
  const OwnText text;
  constexpr const char* kKind = "read of shared memory before its copy has arrived";
  if (seen_before(kKind, a.pc, copy.pc)) return;
  std::string detail = copy.thread == a.thread
                           ? "the thread has not waited for the copy's batch"
                           : "the copy's thread had not waited for its batch when it met the barrier";
  detail += ": __pipeline_wait_prior(N) leaves the newest N batches under way";
  report_finding(block_.race(Cause::copy_under_way, kKind, block_.place(a),
                             block_.place(copy.pc, copy.thread, "asynchronous copy"), std::move(detail)));
}

}  // namespace ridge::simt
