#include "grader/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace ridge {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the character at the start of `s`, and the character; 0 where that is no UTF-8 (Unicode 15, table 3-7).
std::size_t decode(std::string_view s, std::uint32_t& c) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  unsigned char first = byte(0);
  std::size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0 || s.size() < size) return 0;
  c = size == 1 ? first : first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    c = c << 6 | (byte(i) & 0x3F);
  }
  const bool too_long = (size == 3 && c < 0x800) || (size == 4 && c < 0x10000);
  return too_long || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : size;
}

bool unfit(std::uint32_t c) {
  return (c >= 0x7F && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c & 0xFFFE) == 0xFFFE;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t c = 0;
    std::size_t size = decode(text, c);
    if (size == 1 && ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F))
      out += '?';
    else if (size == 0 || unfit(c))
      out += kReplacement;
    else
      out += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string capped(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + fmt::format("\n... ({} bytes more)", text.size() - end);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string as_typed(std::string text) {
  const char* command = std::getenv("RIDGE_COMMAND");  // the launcher's
  return command != nullptr && std::string_view(command) == "ridge" ? replaced(std::move(text), "./ridge", "ridge")
                                                                    : text;
}

std::string points_text(double points, double max) {
  const double tenths = std::floor(points * 10 + 1e-6) / 10;
  auto text = [](double p) { return p == std::floor(p) ? fmt::format("{:.0f}", p) : fmt::format("{:.1f}", p); };
  return text(points >= max ? max : tenths) + " / " + text(max);
}

std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
  // Edits of one letter, with two neighbours exchanged as one edit (optimal string alignment).
  auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
      for (std::size_t j = 0; j <= b.size(); ++j) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    return d[a.size()][b.size()];
  };
  std::string best;
  std::size_t least = typed.size() <= 3 ? 1 : typed.size() <= 8 ? 2 : 3;  // this far off at most
  if (typed.size() < 2 || typed.size() > 64) return best;
  for (const std::string& name : names) {
    const std::size_t d = distance(typed, name);
    if (d < least || (d == least && best.empty())) best = name, least = d;
    if (best.empty() && typed.size() >= 4 && name.rfind(typed, 0) == 0) best = name;  // begun, not ended
  }
  return best;
}

std::string value_text(double value, double goal) {
  for (int digits = 3; digits < 17; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (value == goal || std::strtod(text.c_str(), nullptr) != std::strtod(fmt::format("{:g}", goal).c_str(), nullptr))
      return text;
  }
  return fmt::format("{}", value);
}

std::string version_after(std::string_view text, std::string_view mark) {
  auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const std::size_t first = at + mark.size();
    std::size_t end = first;
    while (digit(end) || (end > first && end < text.size() && text[end] == '.' && digit(end + 1))) ++end;
    if (end > first) return std::string(text.substr(first, end - first));
  }
  return "";
}

}  // namespace ridge
