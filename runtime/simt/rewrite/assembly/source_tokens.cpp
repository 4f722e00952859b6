#include "source_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "simt/rewrite/text/lexer.hpp"

namespace ridge::simt {

std::vector<Token> tokens_of(std::string_view source) {
  const std::vector<Kind> kinds = classify(source);
  std::vector<Token> all;
  int line = 1;
  std::size_t start = 0;
  for (std::size_t at = 0; at < source.size();) {
    if (source[at] == '\n') {
      ++line;
      start = ++at;
      continue;
    }
    if (at == start && starts_with(source.substr(at), "#line ")) {
      std::from_chars(source.data() + at + 6, source.data() + source.size(), line);
      at = std::min(source.find('\n', at), source.size());
      start = at + 1;
      ++at;
      continue;
    }
    if (kinds[at] != Kind::code || is_space(source[at])) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (is_word(source[at]))
      while (end < source.size() && is_word(source[end])) ++end;
    else if (starts_with(source.substr(at), "->"))
      end = at + 2;
    all.push_back({source.substr(at, end - at), line, static_cast<int>(at - start) + 1});
    at = end;
  }
  return all;
}

bool is_name(std::string_view token) {
  return is_word(token.front()) && std::isdigit(static_cast<unsigned char>(token.front())) == 0;
}

}  // namespace ridge::simt
