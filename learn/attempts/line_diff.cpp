#include "learn/attempts/line_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace ridge::loop {

namespace {

// Beyond this size of the table, everything between the common ends counts as replaced.
constexpr std::size_t kMostCells = 16 << 20;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<DiffLine> line_diff(const std::string& before, const std::string& after) {
  const std::vector<std::string> a = lines_of(before), b = lines_of(after);
  std::size_t first = 0, last = 0;  // common lines at both ends
  while (first < a.size() && first < b.size() && a[first] == b[first]) ++first;
  while (last < a.size() - first && last < b.size() - first && a[a.size() - 1 - last] == b[b.size() - 1 - last]) ++last;
  const std::size_t n = a.size() - first - last, m = b.size() - first - last;
  std::vector<DiffLine> out;
  std::size_t i = 0, j = 0;
  auto keep = [&] { out.push_back({' ', a[i], static_cast<int>(i + 1), static_cast<int>(j + 1)}), ++i, ++j; };
  auto remove = [&] { out.push_back({'-', a[i], static_cast<int>(i + 1), 0}), ++i; };
  auto add = [&] { out.push_back({'+', b[j], 0, static_cast<int>(j + 1)}), ++j; };
  while (i < first) keep();
  if (n != 0 && m != 0 && n <= kMostCells / m) {
    // The longest common subsequence of the rest, computed from the end.
    std::vector<std::uint32_t> table((n + 1) * (m + 1), 0);
    auto at = [&](std::size_t r, std::size_t c) -> std::uint32_t& { return table[r * (m + 1) + c]; };
    for (std::size_t r = n; r-- > 0;)
      for (std::size_t c = m; c-- > 0;)
        at(r, c) = a[first + r] == b[first + c] ? at(r + 1, c + 1) + 1 : std::max(at(r + 1, c), at(r, c + 1));
    while (i < first + n && j < first + m) {
      if (a[i] == b[j])
        keep();
      else if (at(i + 1 - first, j - first) >= at(i - first, j + 1 - first))
        remove();
      else
        add();
    }
  }
  while (i < first + n) remove();
  while (j < first + m) add();
  while (i < a.size()) keep();
  return out;
}

std::string hunks(const std::vector<DiffLine>& diff, int context) {
  std::string out;
  const auto size = static_cast<std::ptrdiff_t>(diff.size());
  std::vector<bool> shown(diff.size(), false);
  for (std::ptrdiff_t i = 0; i < size; ++i)
    if (diff[static_cast<std::size_t>(i)].kind != ' ')
      for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, i - context); k < std::min(size, i + context + 1); ++k)
        shown[static_cast<std::size_t>(k)] = true;
  for (std::size_t i = 0; i < diff.size(); ++i) {
    if (!shown[i]) continue;
    if (i == 0 || !shown[i - 1]) {
      int before = 0, after = 0;
      for (std::size_t k = i; k < diff.size() && (before == 0 || after == 0); ++k) {
        if (before == 0) before = diff[k].before;
        if (after == 0) after = diff[k].after;
      }
      out += fmt::format("@@ -{} +{} @@\n", before, after);
    }
    out += diff[i].kind + diff[i].text + "\n";
  }
  return out;
}

DiffStat diff_stat(const std::vector<DiffLine>& diff) {
  DiffStat s;
  for (const DiffLine& l : diff) s.added += l.kind == '+', s.removed += l.kind == '-';
  return s;
}

}  // namespace ridge::loop
