#include "relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ridge::lab {

namespace {

using All = std::vector<Answered>;

bool same(double a, double b) { return a == b || std::fabs(a - b) <= 1e-5 * std::max(std::fabs(a), std::fabs(b)); }

// Most of the wrong elements have the right number of the element that `other` names (at least the size: none).
template <class Other>
bool taken_from(const All& all, Other other) {
  std::size_t wrong = 0, met = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].wrong) continue;
    ++wrong;
    const std::size_t j = other(i);
    if (j < all.size() && j != i && same(all[i].got, all[j].expected) && !same(all[i].expected, all[j].expected)) ++met;
  }
  return met >= 3 && 10 * met >= 9 * wrong;
}

std::string shifted(const All& all, std::size_t columns) {
  const auto n = static_cast<std::ptrdiff_t>(all.size());
  auto by = [&](std::ptrdiff_t step) {
    return taken_from(all, [&](std::size_t i) {
      const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) + step;
      return j < 0 || j >= n ? all.size() : static_cast<std::size_t>(j);
    });
  };
  if (columns > 1 && all.size() > columns) {
    const auto row = static_cast<std::ptrdiff_t>(columns);
    for (const std::ptrdiff_t rows : {1, -1, 2, -2, 4, -4})
      if (std::abs(rows * row) < n && by(rows * row))
        return fmt::format("what row {} should be stands in row {}", rows > 0 ? rows : 0, rows > 0 ? 0 : -rows);
    if (all.size() == columns * columns &&
        taken_from(all, [&](std::size_t i) { return i % columns * columns + i / columns; }))
      return "rows and columns are exchanged: the answer is transposed";
  }
  for (const std::ptrdiff_t step : {1, -1, 2, -2, 3, -3, 4, -4, 8, -8, 16, -16, 32, -32})
    if (std::abs(step) < n && by(step))
      return fmt::format("what element {} should be stands in element {}", step > 0 ? step : 0, step > 0 ? 0 : -step);
  return {};
}

// The row (or column) in which one of the first wrong rows (columns) was stored. `lines` of `length` elements: element
// k of line l is all[index(l, k)].
template <class Index>
std::string stored_elsewhere(const All& all, const char* what, std::size_t lines, std::size_t length, Index index) {
  constexpr std::size_t kTried = 4, kLeast = 3;
  if (length < kLeast || lines < 2) return {};
  std::size_t tried = 0;
  for (std::size_t l = 0; l < lines && tried < kTried; ++l) {
    bool wrong = true;
    for (std::size_t k = 0; k < length && wrong; ++k) wrong = all[index(l, k)].wrong;
    if (!wrong) continue;
    ++tried;
    double size = 0;
    for (std::size_t k = 0; k < length; ++k) size = std::max(size, std::fabs(all[index(l, k)].expected));
    const auto near = [&](double a, double b) { return std::fabs(a - b) <= 1e-4 * size; };  // sums may cancel
    for (std::size_t to = 0; to < lines; ++to) {
      bool stored = to != l;
      for (std::size_t k = 0; k < length && stored; ++k)
        stored = near(all[index(to, k)].got, all[index(l, k)].expected);
      bool varies = false;  // lines that are alike prove nothing
      for (std::size_t k = 0; k < length && stored && !varies; ++k)
        varies = !near(all[index(to, k)].expected, all[index(l, k)].expected);
      if (stored && varies) return fmt::format("what {0} {1} should be stands in {0} {2}", what, l, to);
    }
  }
  return {};
}

// The wrong elements hold each other's right numbers.
bool reordered(const All& all) {
  std::vector<double> expected, got;
  for (const Answered& a : all)
    if (a.wrong) expected.push_back(a.expected), got.push_back(a.got);
  if (expected.size() < 3) return false;
  std::sort(expected.begin(), expected.end());
  std::sort(got.begin(), got.end());
  if (same(expected.front(), expected.back())) return false;
  return std::equal(expected.begin(), expected.end(), got.begin(), same);
}

// Unsigned integers: got = k x expected, modulo 2^32.
std::string integer_factor(const All& all, double modulo) {
  for (std::uint64_t k = 2; k <= 1024; ++k) {
    bool each = true, wrapped = false;
    for (const Answered& a : all) {
      if (!a.wrong) continue;
      const double product = static_cast<double>(k) * a.expected;
      each = each && std::fmod(product, modulo) == a.got;
      wrapped = wrapped || product >= modulo;
    }
    if (each)
      return fmt::format("each wrong element is exactly {} times the expected one{}", k,
                         wrapped ? fmt::format(", modulo 2^{:.0f}", std::log2(modulo)) : "");
  }
  return {};
}

std::string difference(const All& all, double modulo) {
  double least = 0, most = 0;
  std::size_t wrong = 0;
  for (const Answered& a : all) {
    if (!a.wrong) continue;
    double d = a.got - a.expected;
    if (modulo > 0) d -= std::round(d / modulo) * modulo;
    least = wrong == 0 ? d : std::min(least, d), most = wrong == 0 ? d : std::max(most, d);
    ++wrong;
  }
  if (wrong < 3 || least == 0 || !same(least, most)) return {};
  return fmt::format("all wrong elements are too {} by the same {:.7g}", least < 0 ? "small" : "large",
                     std::fabs(least));
}

}  // namespace

std::string relation(const std::vector<Answered>& all, std::size_t columns, double modulo) {
  bool any = false;
  for (const Answered& a : all) {
    any = any || a.wrong;
    if (a.wrong && (!std::isfinite(a.got) || !std::isfinite(a.expected))) return {};
  }
  if (!any) return {};
  if (std::all_of(all.begin(), all.end(), [](const Answered& a) { return !a.wrong || a.got == 0; }))
    return "all wrong elements are 0";
  if (std::string text = shifted(all, columns); !text.empty()) return text;
  if (columns > 1 && all.size() % columns == 0) {
    const std::size_t rows = all.size() / columns;
    if (std::string text =
            stored_elsewhere(all, "row", rows, columns, [&](std::size_t r, std::size_t c) { return r * columns + c; });
        !text.empty())
      return text;
    if (std::string text = stored_elsewhere(all, "column", columns, rows,
                                            [&](std::size_t c, std::size_t r) { return r * columns + c; });
        !text.empty())
      return text;
  }
  if (reordered(all)) return "the right numbers are all there, at wrong places";
  if (modulo > 0)
    if (std::string text = integer_factor(all, modulo); !text.empty()) return text;
  if (std::string text = difference(all, modulo); !text.empty()) return text;
  // Of a single element only a plain factor says anything.
  if (all.size() == 1 && modulo == 0 && all[0].expected != 0) {
    const double factor = all[0].got / all[0].expected, whole = std::round(factor), part = std::round(1 / factor);
    if (whole != 1 && std::fabs(whole) <= 64 && same(factor, whole)) return fmt::format("that is {} times it", whole);
    if (part != 1 && std::fabs(part) <= 64 && same(1 / factor, part))
      return fmt::format("that is {}1/{} of it", part < 0 ? "-" : "", std::fabs(part));
  }
  return {};
}

}  // namespace ridge::lab
