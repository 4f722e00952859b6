// The page of `cluster similar`: both texts of each pair side by side, with the passages that they share.
#pragma once
#include <string>

#include "cluster/src/similar/matching.hpp"

namespace ridge::cluster::similar {

// What both the terminal and the page say above all pairs.
extern const char* const kNoProof;

// "copy.cu 93 % / 88 %": of each file with a passage, how much of it lies in passages: of the one, and of the other.
std::string files_text(const Pair& pair, const HandIn& a, const HandIn& b);

struct PageHead {
  std::string lab, compared;       // compared: what was, in a sentence
  std::vector<std::string> notes;  // what was not, and why
};

// A page that stands alone, without scripts, with the first `most` pairs.
std::string page(const PageHead& head, const Comparison& c, const std::vector<HandIn>& hand_ins, std::size_t most);

}  // namespace ridge::cluster::similar
