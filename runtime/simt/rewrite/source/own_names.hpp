// threadIdx, blockIdx, blockDim and gridDim as a program's own names: `dim3 blockDim(256);` in host code, or a member
// of a struct. The emulator's are macros, so these get another name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewrite/text/functions.hpp"

namespace ridge::simt {

constexpr std::string_view kOwnName = "ridge_own_";  // what the new names begin with

struct Insertion {
  std::size_t at = 0;
  std::string text;
};

// What to insert into the source, in order: kOwnName in front of names, and functions behind members' declarations.
// As `p.gridDim` reads a member of CUDA's structs too, and expands to `p.ridge_grid_dim()`, a class with such a member
// gets that function.
std::vector<Insertion> own_index_names(std::string_view s, const std::vector<Kind>& kind,
                                       const SourceFunctions& functions);

}  // namespace ridge::simt
