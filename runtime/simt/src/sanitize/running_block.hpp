// The block that runs, for reports.
#pragma once
#include <cstdint>

#include "sanitize/access.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

struct RunningBlock {
  const char* kernel = "";
  std::uint64_t number = 0;  // linear index
  unsigned index[3] = {}, shape[3] = {1, 1, 1};

  Place place(const LaneAccess& a) const;
  // threadIdx of a linear thread index.
  void index_of(unsigned thread, unsigned out[3]) const {
    out[0] = thread % shape[0];
    out[1] = thread / shape[0] % shape[1];
    out[2] = thread / shape[0] / shape[1];
  }
};

inline const char* name(AccessKind k) {
  return k == AccessKind::load ? "load" : k == AccessKind::store ? "store" : "atomic";
}

inline Place RunningBlock::place(const LaneAccess& a) const {
  Place p;
  p.pc = a.pc;
  p.block = number;
  for (int i = 0; i < 3; ++i) p.block_index[i] = index[i];
  index_of(a.thread, p.thread);
  p.what = name(a.kind);
  return p;
}

}  // namespace ridge::simt
