// Which passages hand-ins share, apart from what the lab gives and what much of the class has.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/src/similar/tokens.hpp"
#include "cluster/src/similar/winnowing.hpp"

namespace ridge::cluster::similar {

struct HandIn {
  std::string name;
  bool in_class = true;                                    // others are compared with the class alone
  std::vector<std::pair<std::string, std::string>> files;  // name and text
};

struct Rules {
  Sizes sizes;
  double common = 0.2;                // of the class: what more hand-ins have is not counted
  std::size_t common_at_least = 5;    // but never what only so many have
  std::size_t most_tokens = 200'000;  // of a hand-in; the rest is not compared
};

// Bytes of one file of one hand-in.
struct Place {
  std::size_t file = 0, begin = 0, end = 0;
};

struct Passage {
  Place a, b;
  std::size_t tokens = 0;
};

struct Share {
  std::size_t own = 0, matched = 0;  // tokens: that the lab does not give, and of these those in similar passages
  double percent() const { return own == 0 ? 0 : 100.0 * static_cast<double>(matched) / static_cast<double>(own); }
};

struct Pair {
  std::size_t a = 0, b = 0;  // of the hand-ins; `a` is of the class
  std::size_t matched = 0;   // tokens
  Share of_a, of_b;
  std::vector<Share> files_a, files_b;
  std::vector<Passage> passages;  // in the order of `a`
};

struct Comparison {
  std::vector<Pair> pairs;        // with a passage at least; most matched tokens first
  std::vector<std::size_t> cut;   // hand-ins that have more tokens than are compared
  std::size_t common_tokens = 0;  // of the class, that are not counted since many have them
};

// `given`: sources whose text is everybody's: stubs, headers, the lesson's code.
Comparison compare(const std::vector<HandIn>& hand_ins, const std::vector<std::string>& given, const Rules& rules = {});

}  // namespace ridge::cluster::similar
