// Turns the emulator's launch records into the counters of a result, by kernel and by source line.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/result/counts.hpp"

namespace ridge {

// `text` comes from the worker: anything malformed gives an empty result. `program` resolves code offsets to lines.
Counted count_launches(const std::string& text, const fs::path& program);
// Seconds of all parts of file requests, as the replay has placed them; below 0 where the text does not tell.
double file_seconds(const std::string& text);

// The same with lines from elsewhere, and without names of streams but those that the submission gave.
using LineFinder = std::function<std::vector<std::pair<std::string, int>>(const std::vector<std::uint64_t>& offsets)>;
Counted count_launches(const std::string& text, const LineFinder& lines_of);

// Files and lines of all frames of an inlined call, innermost first, for each code offset.
std::vector<std::vector<std::pair<std::string, int>>> source_frames(const fs::path& program,
                                                                    const std::vector<std::uint64_t>& offsets);

// "file:line" of each code offset, outermost inlined frame.
std::vector<std::pair<std::string, int>> source_lines(const fs::path& program,
                                                      const std::vector<std::uint64_t>& offsets);

}  // namespace ridge
