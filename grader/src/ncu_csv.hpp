// What Nsight Compute prints with `--csv --page raw`.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace ridge {

struct NcuLaunch {
  std::string kernel;                     // without return type, template arguments and parameters
  std::string grid, block;                // "64x1x1"; empty where the file does not say
  std::map<std::string, double> metrics;  // bytes and nanoseconds where the unit row says otherwise; missing: not there
};

// Reads one or several reports after each other, each with a header row and a row of units. Lines outside of the tables
// ("==PROF== ...", a program's output) are skipped. Throws Error where there is no table, or a row does not fit.
std::vector<NcuLaunch> parse_ncu_csv(const std::string& text);

// "void copy<(int)4>(const float *, int)" -> "copy".
std::string bare_kernel_name(const std::string& name);

}  // namespace ridge
