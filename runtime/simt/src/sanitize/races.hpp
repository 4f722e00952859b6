// Conflicts between an access and what the cells know of earlier ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sanitize/access.hpp"
#include "sanitize/cells.hpp"
#include "sanitize/order.hpp"
#include "sanitize/running_block.hpp"
#include "sanitize/uninitialised.hpp"

namespace ridge::simt {

class Races {
 public:
  Races(const RunningBlock& block, const Order& order, Cells& cells, UninitialisedReads& reads)
      : block_(block), order_(order), cells_(cells), reads_(reads) {}
  void begin_block() { pending_ = false; }

  // An access begins: visit() follows for each of its cells, then end().
  void begin(const LaneAccess& a);
  void visit(Cell& cell, const Seen& now);
  void end(const LaneAccess& a);
  // Decides on the last conflict, now that its access is done and the next one is known.
  void settle() {
    if (pending_) decide();
  }

 private:
  bool in_conflict(const Seen& old, const Seen& now) const;
  bool excused(const Seen& old, const Seen& now) const;
  void add_reader(Cell& cell, const Seen& now) const;
  bool begins_loop(std::uint32_t pc) const {
    return std::find(loop_loads_.begin(), loop_loads_.end(), pc) != loop_loads_.end();
  }
  void decide();
  void report(const LaneAccess& a, const Seen& other);

  const RunningBlock& block_;
  const Order& order_;
  Cells& cells_;
  UninitialisedReads& reads_;

  bool conflict_ = false;  // the access that is visited conflicts with other_
  Seen other_;

  // A conflict that waits for the next call: a store may turn out to write what was there, a load to begin a loop of
  // atomicCAS. At most one, of the last access.
  bool pending_ = false;
  LaneAccess pending_access_{};
  Seen pending_other_;
  unsigned char before_[16] = {};

  // Plain loads that an atomic of the same thread and address follows at once: the starts of atomicCAS loops.
  std::vector<std::uint32_t> loop_loads_;
  LaneAccess last_load_{};
};

}  // namespace ridge::simt
