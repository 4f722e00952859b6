#include "lexer.hpp"

#include <algorithm>
#include <string>

namespace ridge::simt {

namespace {

// True where a literal that starts at `i` has no prefix, or an encoding prefix: not the quote of 1'000.
bool starts_literal(std::string_view s, std::size_t i) {
  std::size_t word = i;
  while (word > 0 && i - word < 3 && is_word(s[word - 1])) --word;
  std::string_view prefix = s.substr(word, i - word);
  return prefix.empty() || prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
}

}  // namespace

std::vector<Kind> classify(std::string_view s) {
  std::vector<Kind> kinds(s.size(), Kind::code);
  auto mark = [&](std::size_t from, std::size_t to, Kind kind) {
    for (std::size_t i = from; i < std::min(to, s.size()); ++i) kinds[i] = kind;
  };
  std::size_t i = 0;
  while (i < s.size()) {
    std::size_t end = i + 1;
    if (s.substr(i, 2) == "//") {
      end = i;
      while (end < s.size() && (s[end] != '\n' || s[end - 1] == '\\')) ++end;
      mark(i, end, Kind::comment);
    } else if (s.substr(i, 2) == "/*") {
      end = s.find("*/", i + 2);
      end = end == std::string_view::npos ? s.size() : end + 2;
      mark(i, end, Kind::comment);
    } else if (s.substr(i, 2) == "R\"" && starts_literal(s, i)) {
      std::size_t open = s.find('(', i);
      if (open == std::string_view::npos) break;
      std::string close = ")" + std::string(s.substr(i + 2, open - i - 2)) + "\"";
      end = s.find(close, open);
      end = end == std::string_view::npos ? s.size() : end + close.size();
      mark(i, end, Kind::literal);
    } else if (s[i] == '"' || (s[i] == '\'' && starts_literal(s, i))) {
      while (end < s.size() && s[end] != s[i] && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
      ++end;
      mark(i, end, Kind::literal);
    }
    i = end;
  }
  return kinds;
}

}  // namespace ridge::simt
