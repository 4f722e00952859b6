#include "warp/code_rows.hpp"

#include <algorithm>
#include <string_view>

namespace ridge::viz {
namespace {

constexpr std::size_t kMore = 4, kLeast = 8;  // columns

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // inside a character of UTF-8

// Bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t i = 0;
  for (std::size_t n = 0; i < text.size(); ++i)
    if (!continues(text[i]) && n++ == columns) break;
  return i;
}

// Where a row of at most `most` bytes ends.
std::size_t break_of(std::string_view text, std::size_t most) {
  for (std::size_t i = most; i > most / 2; --i)
    if (text[i - 1] == ' ' || text[i - 1] == ',') return i;
  for (std::size_t i = most; i > most / 2; --i) {
    const char last = text[i - 1], next = text[i];
    if (std::string_view("([{+-*/%=&|<>?:").find(last) != std::string_view::npos &&
        std::string_view("+-*/%=&|<>:)").find(next) == std::string_view::npos)
      return i;
  }
  return most;
}

}  // namespace

std::vector<std::string> code_rows(const std::string& line, std::size_t columns) {
  columns = std::max(columns, kLeast);
  std::vector<std::string> rows;
  std::string_view left = line;
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  std::string indent;
  while (true) {
    const std::size_t room = columns - indent.size(), most = bytes_of(left, room);
    if (most == left.size()) break;
    // Blanks at the line's beginning are no place to break.
    std::size_t end = break_of(left, most);
    if (rows.empty() && end <= blanks) end = most;
    rows.push_back(indent + std::string(left.substr(0, end)));
    left.remove_prefix(end);
    left.remove_prefix(std::min(left.find_first_not_of(' '), left.size()));
    indent.assign(std::min(blanks + kMore, columns / 2), ' ');
    if (left.empty()) return rows;
  }
  rows.push_back(indent + std::string(left));
  return rows;
}

}  // namespace ridge::viz
