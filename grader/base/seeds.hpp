// Seeds made from a seed. A submission sees its inputs, and from them could in principle find the seed they were made
// from: that of other cases and turns must not follow.
#pragma once
#include <cstdint>
#include <string_view>

#include "grader/base/paths.hpp"

namespace ridge {

// The first 8 bytes of SHA-256 over the seed, the purpose and the number.
std::uint64_t derived_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

// A course's secret seed for a lab, from a file that nobody else may read (mode 0600, 16 bytes or more). Throws
// Error(Exit::usage).
std::uint64_t seed_from_file(const fs::path& file, std::string_view lab);

}  // namespace ridge
