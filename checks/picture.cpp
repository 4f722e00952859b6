#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "relation.hpp"

namespace ridge::lab {

namespace {

constexpr std::size_t kMapRows = 16, kMapColumns = 48;  // characters
constexpr std::size_t kRows = 4, kColumns = 7;          // numbers around the first wrong one
constexpr std::size_t kDigits = 9;                      // of a number, usually

std::string number(double v) {
  if (std::isnan(v)) return "nan";
  if (v == std::floor(v) && std::fabs(v) < 1e10) return fmt::format("{:.0f}", v);
  return fmt::format("{:.4g}", v);
}

std::string ordinal(std::size_t n) {
  const std::size_t ten = n % 100 / 10, one = n % 10;
  return fmt::format("{}{}", n, ten == 1 ? "th" : one == 1 ? "st" : one == 2 ? "nd" : one == 3 ? "rd" : "th");
}

// The two numbers at the end of "out[3][5]".
std::optional<std::pair<std::size_t, std::size_t>> row_and_column(const std::string& name) {
  const std::size_t middle = name.rfind("][");
  if (middle == std::string::npos || name.back() != ']') return {};
  const std::size_t open = name.rfind('[', middle);
  if (open == std::string::npos) return {};
  auto digits = [&](std::size_t from, std::size_t to) {
    return from < to &&
           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(from), name.begin() + static_cast<std::ptrdiff_t>(to),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(open + 1, middle) || !digits(middle + 2, name.size() - 1)) return {};
  return std::pair{std::stoul(name.substr(open + 1)), std::stoul(name.substr(middle + 2))};
}

std::size_t columns_of(const std::function<std::string(std::size_t)>& where, std::size_t total) {
  if (total == 0 || row_and_column(where(0)) != std::pair<std::size_t, std::size_t>{0, 0}) return 0;
  for (std::size_t i = 1; i < total; ++i) {
    const auto at = row_and_column(where(i));
    if (!at) return 0;
    if (at->first == 1 && at->second == 0) return i;
    if (at->first != 0 || at->second != i) return 0;
  }
  return total;
}

// The values of `index` whose elements are all wrong, if no other element is wrong.
struct Group {
  std::size_t first, last;
};
template <class Index>
std::optional<Group> only_wrong(const std::vector<bool>& wrong, std::size_t values, Index index) {
  std::vector<char> right(values), bad(values);
  for (std::size_t i = 0; i < wrong.size(); ++i) (wrong[i] ? bad : right)[index(i)] = 1;
  Group g{values, 0};
  for (std::size_t v = 0; v < values; ++v) {
    if (bad[v] != 0 && right[v] != 0) return {};
    if (bad[v] != 0) g.first = std::min(g.first, v), g.last = v;
  }
  for (std::size_t v = g.first; v <= g.last && v < values; ++v)
    if (bad[v] == 0) return {};
  if (g.first == values || (g.first == 0 && g.last == values - 1)) return {};
  return g;
}

std::string span_text(const char* one, const char* many, const Group& g) {
  return g.first == g.last ? fmt::format("{} {}", one, g.first) : fmt::format("{} {} to {}", many, g.first, g.last);
}

}  // namespace

std::string wrong_pattern(const std::vector<bool>& wrong, std::size_t columns) {
  const std::size_t n = wrong.size();
  if (std::find(wrong.begin(), wrong.end(), false) == wrong.end()) return n > 1 ? "all elements are wrong" : "";
  if (columns > 1 && n / columns > 1) {
    if (const auto g = only_wrong(wrong, n / columns, [&](std::size_t i) { return i / columns; }))
      return "wrong: " + span_text("row", "rows", *g) + " only";
    if (const auto g = only_wrong(wrong, columns, [&](std::size_t i) { return i % columns; }))
      return "wrong: " + span_text("column", "columns", *g) + " only";
    if (const auto g = only_wrong(wrong, 2, [&](std::size_t i) -> std::size_t { return i / columns != i % columns; }))
      return g->first == 0 ? "wrong: the diagonal only" : "right: the diagonal only";
  }
  if (const auto g = only_wrong(wrong, n, [](std::size_t i) { return i; })) {
    const std::size_t count = g->last - g->first + 1;
    if (count == 1) return {};
    if (g->last == n - 1) return fmt::format("wrong: the last {} elements, from {} on", count, g->first);
    if (g->first == 0) return fmt::format("wrong: the first {} elements", count);
    return fmt::format("wrong: elements {} to {} only", g->first, g->last);
  }
  for (std::size_t m = 2; m <= 1024 && 2 * m <= n; m *= 2)
    if (const auto g = only_wrong(wrong, m, [&](std::size_t i) { return i % m; })) {
      if (g->first == g->last && m == 2) return fmt::format("wrong: every {} element only", g->first ? "odd" : "even");
      if (g->first == g->last) return fmt::format("wrong: every {} element only, from {} on", ordinal(m), g->first);
      return fmt::format("wrong: of each {} elements, number {} to {} only", m, g->first, g->last);
    }
  return {};
}

std::string wrong_map(const std::vector<bool>& wrong, std::size_t columns) {
  const bool matrix = columns > 1;
  if (!matrix) columns = std::min<std::size_t>(wrong.size(), std::size_t{32} * ((wrong.size() + 511) / 512));
  const std::size_t rows = (wrong.size() + columns - 1) / columns;
  const std::size_t high = (rows + kMapRows - 1) / kMapRows, wide = (columns + kMapColumns - 1) / kMapColumns;
  std::string map = matrix ? fmt::format("{} rows x {} columns", rows, columns) : fmt::format("{} a line", columns);
  if (high * wide > 1)
    map += fmt::format(", {} a character", matrix ? fmt::format("{} x {}", high, wide) : std::to_string(wide));
  map += " (. right, # wrong";
  map += high * wide > 1 ? ", + some of them wrong):" : "):";
  for (std::size_t r = 0; r < rows; r += high) {
    map += "\n  ";
    for (std::size_t c = 0; c < columns; c += wide) {
      std::size_t good = 0, bad = 0;
      for (std::size_t y = r; y < std::min(r + high, rows); ++y)
        for (std::size_t x = c; x < std::min(c + wide, columns); ++x)
          if (const std::size_t i = y * columns + x; i < wrong.size()) ++(wrong[i] ? bad : good);
      if (good + bad > 0) map += bad == 0 ? '.' : good == 0 ? '#' : '+';
    }
  }
  return map;
}

void Picture::note(std::size_t i, double expected, double got, bool wrong) {
  if (!wanted() || i >= total_) return;
  elements_.resize(total_);
  elements_[i] = {expected, got, true, wrong};
}

void Picture::merge(const Picture& other) {
  if (other.elements_.empty()) return;
  elements_.resize(total_);
  for (std::size_t i = 0; i < total_; ++i)
    if (other.elements_[i].noted) elements_[i] = other.elements_[i];
}

std::string Picture::told(const std::function<std::string(std::size_t)>& where, double modulo) const {
  std::vector<Answered> all;
  for (const Element& e : elements_) {
    if (!e.noted) return {};
    all.push_back({e.expected, e.got, e.wrong});
  }
  const std::string text = all.empty() ? std::string() : relation(all, columns_of(where, total_), modulo);
  return text.empty() ? text : "; " + text;
}

std::string Picture::text(const std::function<std::string(std::size_t)>& where) const {
  std::vector<bool> wrong;
  for (const Element& e : elements_) {
    if (!e.noted) return {};
    wrong.push_back(e.wrong);
  }
  const auto found = std::find(wrong.begin(), wrong.end(), true);
  if (found == wrong.end() || total_ < 2) return {};
  const auto first = static_cast<std::size_t>(found - wrong.begin());
  const std::size_t columns = columns_of(where, total_);
  const bool matrix = columns > 1 && total_ > columns;

  std::string text = wrong_pattern(wrong, columns);
  const bool all = std::find(wrong.begin(), wrong.end(), false) == wrong.end();
  // The numbers: some of the first wrong element's row, and of a matrix of the rows that follow.
  const std::size_t width = matrix ? columns : total_, x = matrix ? first % columns : first;
  const std::size_t top = matrix ? first / columns : 0, bottom = matrix ? std::min(top + kRows, total_ / columns) : 1;
  std::size_t shown = std::min(kColumns, width), left = std::min(x < 2 ? 0 : x - 2, width - shown), digits = kDigits;
  for (std::size_t r = top; r < bottom; ++r)
    for (std::size_t c = left; c < left + shown; ++c)
      for (const double v : {elements_[r * width + c].expected, elements_[r * width + c].got})
        digits = std::max(digits, number(v).size());
  if (digits > kDigits && shown == kColumns) --shown;  // a line has as much room as before
  text += fmt::format("{}{:<18}", text.empty() ? "" : "\n", matrix ? "column" : "element");
  for (std::size_t c = left; c < left + shown; ++c) text += fmt::format("{:>{}} ", c, digits);
  for (std::size_t r = top; r < bottom; ++r)
    for (const bool got : {false, true}) {
      const std::string row = matrix && !got ? fmt::format("row {}", r) : std::string();
      text += fmt::format("\n{:<9}{:<9}", row, got ? "got" : "expected");
      for (std::size_t c = left; c < left + shown; ++c) {
        const Element& e = elements_[r * width + c];
        text += fmt::format("{:>{}}{}", number(got ? e.got : e.expected), digits, got && e.wrong ? '!' : ' ');
      }
    }
  if (!all && total_ > shown && (matrix || total_ >= 32)) text += "\n" + wrong_map(wrong, columns);
  return text;
}

}  // namespace ridge::lab
