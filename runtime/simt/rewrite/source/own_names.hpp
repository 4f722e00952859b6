// threadIdx, blockIdx, blockDim and gridDim as names of a function's own: `dim3 blockDim(256);` in host code. The
// emulator's are macros, so these get another name.
#pragma once
#include <string_view>
#include <vector>

#include "simt/rewrite/text/functions.hpp"

namespace ridge::simt {

constexpr std::string_view kOwnName = "ridge_own_";  // what the new names begin with

// Places of the names to change, in order.
std::vector<std::size_t> own_index_names(std::string_view s, const std::vector<Kind>& kind,
                                         const SourceFunctions& functions);

}  // namespace ridge::simt
