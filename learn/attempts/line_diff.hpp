// The difference between two texts, line by line.
#pragma once
#include <string>
#include <vector>

namespace ridge::loop {

struct DiffLine {
  char kind = ' ';  // ' ', '-', '+'
  std::string text;
  int before = 0, after = 0;  // line numbers from 1; 0: not in that text
};

// All lines of both texts, in order.
std::vector<DiffLine> line_diff(const std::string& before, const std::string& after);

// The changes, each with `context` lines around it and headed "@@ -A +B @@". Empty if the texts are equal.
std::string hunks(const std::vector<DiffLine>& diff, int context = 3);

struct DiffStat {
  int added = 0, removed = 0;
};
DiffStat diff_stat(const std::vector<DiffLine>& diff);

}  // namespace ridge::loop
