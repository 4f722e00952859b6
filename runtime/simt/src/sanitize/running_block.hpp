// The block that runs, and what is found in it.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "sanitize/access.hpp"
#include "sanitize/findings.hpp"

namespace ridge::simt {

struct RunningBlock {
  const char* kernel = "";
  std::uint64_t number = 0;  // linear index
  unsigned index[3] = {}, shape[3] = {1, 1, 1};

  Place place(std::uint32_t pc, unsigned thread, const char* what = "") const;
  Place place(const LaneAccess& a) const;
  Finding finding(Cause cause, std::string kind, const Place& at, std::string detail) const;
  // Of two accesses: `other` came before.
  Finding race(Cause cause, std::string kind, const Place& at, const Place& other, std::string detail) const;
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

inline Place RunningBlock::place(std::uint32_t pc, unsigned thread, const char* what) const {
  Place p;
  p.pc = pc;
  p.block = number;
  for (int i = 0; i < 3; ++i) p.block_index[i] = index[i];
  index_of(thread, p.thread);
  p.what = what;
  return p;
}

inline Place RunningBlock::place(const LaneAccess& a) const { return place(a.pc, a.thread, name(a.kind)); }

inline Finding RunningBlock::finding(Cause cause, std::string kind, const Place& at, std::string detail) const {
  Finding f;
  f.cause = cause;
  f.kind = std::move(kind);
  f.kernel = kernel;
  f.at = at;
  f.detail = std::move(detail);
  return f;
}

inline Finding RunningBlock::race(Cause cause, std::string kind, const Place& at, const Place& other,
                                  std::string detail) const {
  Finding f = finding(cause, std::move(kind), at, std::move(detail));
  f.race = true;
  f.other = other;
  return f;
}

}  // namespace ridge::simt
