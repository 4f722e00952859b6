// Kernels that Nsight Compute measured, as a result: a task per kernel and launch shape.
#pragma once
#include "roofline/result_file.hpp"

namespace ridge::viz {

// Throws ResultError.
Result read_ncu(const std::filesystem::path& file);
Result parse_ncu(const std::string& text, const std::filesystem::path& file);

}  // namespace ridge::viz
