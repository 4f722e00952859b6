#include "sanitize/uninitialised.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device/memory.hpp"
#include "device/own_text.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

void UninitialisedReads::begin_block() {
  run_ = {};
  suspects_.clear();
}

// Struct copies read padding and members that were never set: small gaps beside initialised pieces are theirs.
void UninitialisedReads::check(const LaneAccess& a, unsigned written) {
  // New memory is filled with 0xFF. Anything else was written after all, by library code that no hook sees.
  const auto* bytes = reinterpret_cast<const unsigned char*>(a.address);
  if (written == 0 && std::any_of(bytes, bytes + a.bytes, [](unsigned char b) { return b != 0xFF; })) written = a.bytes;
  constexpr unsigned kPadding = 7;
  const bool follows =
      run_.end == a.address && run_.pc == a.pc && run_.thread == a.thread && a.kind == AccessKind::load;
  if (!follows) {
    end_run();
    run_ = {a.address, a.pc, a.thread, false, 0, false, {}};
  }
  run_.end += a.bytes;
  if (written != 0) {
    run_.initialised = true;
    run_.suspect = false;
    run_.gap = 0;
    return;
  }
  run_.gap += a.bytes;
  if (run_.gap > kPadding) {
    suspect(run_.suspect ? run_.first : a);
    run_.suspect = false;
  } else if (!run_.initialised && !run_.suspect) {
    run_.suspect = true;
    run_.first = a;
  }
}

void UninitialisedReads::end_run() {
  if (run_.suspect) suspect(run_.first);
  run_ = {};
}

void UninitialisedReads::explained(std::uint32_t pc) {
  if (std::find(raced_.begin(), raced_.end(), pc) == raced_.end()) raced_.push_back(pc);
  std::erase_if(suspects_, [pc](const LaneAccess& s) { return s.pc == pc; });
}

void UninitialisedReads::suspect(const LaneAccess& a) {
  if (std::find(raced_.begin(), raced_.end(), a.pc) != raced_.end()) return;
  for (const LaneAccess& s : suspects_)
    if (s.pc == a.pc && s.shared == a.shared) return;
  suspects_.push_back(a);
}

void UninitialisedReads::report() {
  for (const LaneAccess& a : suspects_) report(a);
  suspects_.clear();
}

void UninitialisedReads::report(const LaneAccess& a) const {
  const OwnText text;
  std::string kind = std::string("uninitialised ") + (a.shared ? "shared " : "global ") + name(a.kind) + " of " +
                     std::to_string(a.bytes) + (a.bytes == 1 ? " byte" : " bytes");
  if (seen_before(kind.c_str(), a.pc, 0)) return;
  std::string detail;
  if (a.shared) {
    detail = "this block has not written there; shared memory holds garbage at a block's start";
  } else {
    const Allocation& owner = DeviceMemory::instance().owner(a.address);
    detail = "nothing was ever written there: byte " + std::to_string(a.address - owner.begin) +
             " of an allocation of " + std::to_string(owner.bytes) + " bytes; cudaMalloc does not clear memory";
  }
  report_finding(block_.finding(Cause::uninitialised, kind, block_.place(a), std::move(detail)));
}

}  // namespace ridge::simt
