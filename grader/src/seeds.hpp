// Seeds made from a seed. A submission sees its inputs, and from them could in principle find the seed they were made
// from: that of other cases and turns must not follow.
#pragma once
#include <cstdint>
#include <string_view>

namespace ridge {

// The first 8 bytes of SHA-256 over the seed, the purpose and the number.
std::uint64_t derived_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

}  // namespace ridge
