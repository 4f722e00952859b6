// Nsight Compute's tables (formats/ncu_csv.hpp), with the grader's errors.
#pragma once
#include "formats/ncu_csv.hpp"

namespace ridge {

// Throws Error where there is no table, or a row does not fit.
std::vector<NcuLaunch> parse_ncu_csv(const std::string& text);

}  // namespace ridge
