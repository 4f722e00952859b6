// Finds the source lines of places in the program, through binutils' addr2line.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ridge::simt {

struct SourceLine {
  std::string file;  // base name; empty where there is no debug information
  int line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

using SourcePaths = std::map<std::string, std::string>;  // base name -> path as the compiler got it

// Asks one process for all of them. An inlined call has the line of its outermost frame outside of the emulator's
// headers.
std::map<std::uint32_t, SourceLine> source_lines(const std::vector<std::uint32_t>& pcs, SourcePaths* paths = nullptr);

}  // namespace ridge::simt
