#include "serve/work_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/base/text.hpp"

namespace ridge::serve {

namespace {

// The code point at the front of a text, or -1 where the bytes are no UTF-8.
long code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
  if (size == 0 || text.size() < size) return -1;
  long point = first & (0xFF >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return -1;
    point = point << 6 | (byte(i) & 0x3F);
  }
  return point;
}

}  // namespace

std::string text_problem(std::string_view text) {
  if (text.size() > kMostText) return "the text is larger than this page edits";
  // Carriage returns are the page's to keep.
  const std::string plain = replaced(std::string(text), "\r", ""), fit = printable(plain);
  const auto at =
      static_cast<std::size_t>(std::mismatch(plain.begin(), plain.end(), fit.begin(), fit.end()).first - plain.begin());
  if (at == plain.size()) return {};
  std::size_t start = at;  // of the character
  while (start > 0 && (static_cast<unsigned char>(plain[start]) & 0xC0) == 0x80) --start;
  const auto line = std::count(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(start), '\n') + 1;
  const long point = code_point(std::string_view(plain).substr(start));
  if (point < 0) return fmt::format("line {} holds bytes that are no UTF-8 text", line);
  return fmt::format("line {} holds U+{:04X}, a character that cannot be seen; delete it", line, point);
}

}  // namespace ridge::serve
