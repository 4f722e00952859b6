// Problems that do not stop a kernel: printed once for each pair of source lines, counted, summed up at the end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/fault.hpp"

namespace ridge::simt {

// One side of a race, or the place of an uninitialised read.
struct Place {
  std::uint32_t pc = 0;
  std::uint64_t block = 0;       // linear
  unsigned block_index[3] = {};  // valid for the access that is reported
  unsigned thread[3] = {};
  const char* what = "";  // "load", "store", "atomic"
};

struct Finding {
  Cause cause = Cause::none;
  std::string kind;  // "race on shared memory", "uninitialised global load of 4 bytes", ...
  std::string kernel;
  Place at;
  Place other;  // races only: the earlier access
  bool race = false;
  std::string detail;
  std::string line, other_line;  // "file.cu:12"; filled in by report_finding
  std::size_t count = 0;
  Callers launched = {};  // the kernel's launch; filled in by report_finding
};

void report_finding(Finding finding);
// Whether a finding of these program offsets was reported already; counts it.
bool seen_before(const char* kind, std::uint32_t pc, std::uint32_t other_pc);

std::vector<Finding> findings();
void clear_findings();
// Prints what is left to say; returns the number of problems: findings, a fault that no reset has cleared, and `leaks`.
std::size_t summarise_findings(std::size_t leaks);

}  // namespace ridge::simt
