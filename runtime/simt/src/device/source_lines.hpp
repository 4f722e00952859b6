// Finds the source lines of places in the program, through binutils' addr2line.
#pragma once
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>
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

// Paths, as the compiler got them, and lines of all frames of an inlined call, innermost first.
using SourceFrames = std::vector<std::pair<std::string, int>>;
std::map<std::uint32_t, SourceFrames> source_frames(const std::vector<std::uint32_t>& pcs);

// Opens a source by its path as the compiler got it.
std::ifstream open_source(const std::string& path);

}  // namespace ridge::simt
