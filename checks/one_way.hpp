// Seeds that do not tell what they were made from. Values of random_bits (fill.hpp) tell their seed. So a lab whose
// submission sees a part of what a check has drawn, and must not know the rest, draws both from such seeds.
#pragma once
#include <cstdint>
#include <string_view>

namespace ridge::lab {

// The first 8 bytes of SHA-256 over the seed, the purpose and the number.
std::uint64_t one_way_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

}  // namespace ridge::lab
