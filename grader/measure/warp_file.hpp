// The requests of a task's measured case (`ridge.warp/1`, docs/warp-format.md), beside the result: for the visualizer.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/measure/counters.hpp"
#include "grader/result/result.hpp"

namespace ridge {

// Makes the warp file from the worker's launch records; empty if these hold no valid trace. `program` gives the lines;
// the source's text comes from the first of `folders` that has a file of that name.
std::string warp_file(const std::string& records, const LineFinder& lines_of, const std::vector<fs::path>& folders);
std::string warp_file(const std::string& records, const fs::path& program, const std::vector<fs::path>& folders);

// Writes those of all tasks to where store() puts the result, and names them in it: call it first.
void store_warps(Result& result);

}  // namespace ridge
