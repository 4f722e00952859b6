// Top-k by other rules than the contract's, so that an error message can name them.
#pragma once
#include "common.hpp"

namespace ridge::lab::ddp {

// The rule, in words ("that ..."), by which all residuals and the mean of rank 0 are as they are. Empty where none is found.
std::string compression_behind(ConstBuffers in, ConstBuffers out, std::size_t k, std::size_t ranks, bool by_host);

}  // namespace ridge::lab::ddp
