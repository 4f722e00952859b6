// The jump of MT19937 by 2^2048 numbers, as in Haramoto et al., "Efficient jump ahead for F2-linear random number
// generators", INFORMS J. Comput. 20, 2008.
#pragma once

#include <array>
#include <cstdint>

namespace ridge::simt::random {

constexpr unsigned kMersenneWords = 624;
using MersenneState = std::array<std::uint32_t, kMersenneWords>;

// The next 624 words, before tempering.
void mersenne_next(MersenneState& state);

// What the state is 2^2048 numbers later.
MersenneState mersenne_jump(const MersenneState& from);

}  // namespace ridge::simt::random
