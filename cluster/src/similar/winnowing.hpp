// Fingerprints of a sequence of symbols. Schleimer, Wilkerson, Aiken: Winnowing: Local Algorithms for Document
// Fingerprinting, SIGMOD 2003.
#pragma once
#include <cstdint>
#include <vector>

#include "cluster/src/similar/tokens.hpp"

namespace ridge::cluster::similar {

// Runs shorter than `k` tokens are noise; every common run of `k` + `w` - 1 tokens shares a fingerprint.
struct Sizes {
  std::size_t k = 12, w = 8;
};

// The hash of the `k` tokens from each place on: one less than `k` fewer than there are tokens.
std::vector<std::uint64_t> grams(const std::vector<Token>& tokens, std::size_t k);

// The places of the fingerprints: in each window of `w` hashes the least one, the rightmost of equals. Fewer hashes
// than `w` are one window.
std::vector<std::uint32_t> winnow(const std::vector<std::uint64_t>& hashes, std::size_t w);

}  // namespace ridge::cluster::similar
