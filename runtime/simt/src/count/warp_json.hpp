// `ridge.warp/1` as text: docs/warp-format.md.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "count/warp_log.hpp"

namespace ridge::simt {

std::string warp_json(const std::vector<std::unique_ptr<WarpKernel>>& kernels, std::uint64_t left_out, bool with_lines);

}  // namespace ridge::simt
