// The README.md of a folder of benchmarks/: a table of all results that `ridge bench` has left in it.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge {

// Made of the files NN_lab.json (schema ridge.result/1) and calibration.json in `dir`, which may come from several
// runs. Empty where there is no such result. Throws where one can't be read.
std::string bench_page(const fs::path& dir);

}  // namespace ridge
