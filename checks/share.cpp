#include "share.hpp"

#include "fill.hpp"

namespace ridge::lab {

namespace {
unsigned g_one_in = 1;
std::uint64_t g_seed = 0;
}  // namespace

ComparedShare::ComparedShare(unsigned one_in, std::uint64_t seed) { g_one_in = one_in, g_seed = seed; }
ComparedShare::~ComparedShare() { g_one_in = 1; }

bool compares_all() { return g_one_in == 1; }

bool compares(std::size_t block, std::size_t blocks) {
  return g_one_in == 1 || blocks < kLeastBlocks || random_bits(g_seed, block) % g_one_in == 0;
}

}  // namespace ridge::lab
