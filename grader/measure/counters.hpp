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

// A part of a file request, as the replay has placed it in virtual time (seconds).
struct PlacedPart {
  std::uint64_t number = 0;  // of the request
  int resource = 0;          // files::kMetadata and its like
  double seconds = 0, start = 0, end = 0;
};
// What the replay tells of the device's work, without its lines.
struct DeviceLog {
  std::vector<PlacedPart> files;
  double launches = 0, bytes_from_host = 0, bytes_to_host = 0;  // launches of kernels
};
// Empty where the text is malformed.
DeviceLog device_log(const std::string& text);

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
