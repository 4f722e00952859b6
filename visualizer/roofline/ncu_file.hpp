// Reads a table of Nsight Compute as a result with one task for each kernel and launch shape.
#pragma once
#include "roofline/result_file.hpp"

namespace ridge::viz {

// Throws ResultError.
Result read_ncu(const std::filesystem::path& file);
Result parse_ncu(const std::string& text, const std::filesystem::path& file);

}  // namespace ridge::viz
