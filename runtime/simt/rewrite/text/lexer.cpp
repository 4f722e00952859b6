#include "lexer.hpp"

#include <algorithm>

namespace ridge::simt {

namespace {

constexpr std::size_t kLongestDelimiter = 16;  // of a raw literal, as the standard has it

// Behind splices at `i`. Compilers take a backslash with white space behind it for one that ends its line.
std::size_t behind_splices(std::string_view s, std::size_t i) {
  while (i < s.size() && s[i] == '\\') {
    std::size_t end = i + 1;
    while (end < s.size() && s[end] != '\n' && is_space(s[end])) ++end;
    if (end >= s.size() || s[end] != '\n') break;
    i = end + 1;
  }
  return i;
}

// Where the next character of the language stands behind the one at `i`.
std::size_t next_char(std::string_view s, std::size_t i) { return behind_splices(s, i + 1); }

char char_at(std::string_view s, std::size_t i) { return i < s.size() ? s[i] : '\0'; }

std::size_t behind_comment(std::string_view s, std::size_t star_or_slash) {
  std::size_t i = next_char(s, star_or_slash);
  if (s[star_or_slash] == '/') {
    while (i < s.size() && s[i] != '\n') i = next_char(s, i);
    return std::min(i, s.size());
  }
  for (; i < s.size(); i = next_char(s, i))
    if (const std::size_t slash = next_char(s, i); s[i] == '*' && char_at(s, slash) == '/') return slash + 1;
  return s.size();
}

std::size_t behind_quoted(std::string_view s, std::size_t quote) {
  std::size_t i = next_char(s, quote);
  while (i < s.size() && s[i] != s[quote] && s[i] != '\n') {
    if (s[i] == '\\' && char_at(s, next_char(s, i)) != '\n') i = next_char(s, i);
    i = next_char(s, i);
  }
  return i < s.size() && s[i] == s[quote] ? i + 1 : std::min(i, s.size());
}

// The parenthesis behind the delimiter; the quote itself where no raw literal can begin so.
std::size_t raw_parenthesis(std::string_view s, std::size_t quote) {
  const std::size_t length = s.substr(quote + 1, kLongestDelimiter + 1).find_first_of("( )\\\t\v\f\r\n");
  const bool opens = length != std::string_view::npos && s[quote + 1 + length] == '(';
  return opens ? quote + 1 + length : quote;
}

// )delimiter"
std::string closing(std::string_view s, std::size_t quote, std::size_t open) {
  return ")" + std::string(s.substr(quote + 1, open - quote - 1)) + "\"";
}

std::size_t behind_raw(std::string_view s, std::size_t quote, std::size_t open) {
  const std::string close = closing(s, quote, open);
  const std::size_t end = s.find(close, open);
  return end == std::string_view::npos ? s.size() : end + close.size();
}

Piece literal_at(std::string_view s, std::size_t begin, std::size_t quote, bool raw) {
  const std::size_t open = raw ? raw_parenthesis(s, quote) : quote;
  if (open == quote) return {Piece::Is::literal, begin, behind_quoted(s, quote), quote, false};
  return {Piece::Is::literal, begin, behind_raw(s, quote, open), quote, true};
}

// A word, or the literal that it is the prefix of.
Piece word_at(std::string_view s, std::size_t begin) {
  constexpr std::size_t kLongestPrefix = 3;
  std::string head;
  std::size_t end = begin, i = begin;
  for (; i < s.size() && word_character(s[i]); i = behind_splices(s, end)) {
    if (head.size() <= kLongestPrefix) head += s[i];
    end = i + 1;
  }
  const bool raw = head.back() == 'R' && char_at(s, i) == '"';
  if (raw) head.pop_back();
  const bool prefix = head.empty() || head == "L" || head == "u" || head == "U" || head == "u8";
  if (prefix && (char_at(s, i) == '"' || char_at(s, i) == '\'')) return literal_at(s, begin, i, raw);
  return {Piece::Is::word, begin, end};
}

// With the digit separators of C++ and, as no other token may follow, with whatever letters and dots are behind it.
Piece number_at(std::string_view s, std::size_t begin) {
  std::size_t end = begin + 1;
  for (;;) {
    const std::size_t i = behind_splices(s, end);
    const bool separates = char_at(s, i) == '\'' && is_word(char_at(s, next_char(s, i)));
    if (i >= s.size() || !(word_character(s[i]) || s[i] == '.' || separates)) break;
    end = i + 1;
  }
  return {Piece::Is::number, begin, end};
}

bool decimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Piece piece_at(std::string_view s, std::size_t i) {
  if (const std::size_t end = behind_splices(s, i); end != i) return {Piece::Is::splice, i, end};
  const char c = s[i];
  if (is_space(c)) return {Piece::Is::space, i, i + 1};
  if (c == '"' || c == '\'') return literal_at(s, i, i, false);
  if (decimal(c) || (c == '.' && decimal(char_at(s, next_char(s, i))))) return number_at(s, i);
  if (word_character(c)) return word_at(s, i);
  if (const std::size_t second = next_char(s, i); c == '/' && (char_at(s, second) == '/' || char_at(s, second) == '*'))
    return {Piece::Is::comment, i, behind_comment(s, second)};
  return {Piece::Is::other, i, i + 1};
}

std::size_t line_end(std::string_view s, std::size_t i) {
  while (i < s.size() && s[i] != '\n') i = piece_at(s, i).end;
  return i;
}

std::string without_splices(std::string_view s) {
  std::string text;
  for (std::size_t i = behind_splices(s, 0); i < s.size(); i = next_char(s, i)) text += s[i];
  return text;
}

std::string contents_of(std::string_view s, const Piece& literal) {
  if (literal.raw) {
    const std::size_t open = raw_parenthesis(s, literal.quote);
    std::string_view text = s.substr(open + 1, literal.end - open - 1);
    if (const std::string close = closing(s, literal.quote, open); text.ends_with(close))
      text.remove_suffix(close.size());
    return std::string(text);
  }
  std::string text = without_splices(s.substr(literal.quote + 1, literal.end - literal.quote - 1));
  if (!text.empty() && text.back() == s[literal.quote]) text.pop_back();
  return text;
}

std::vector<Kind> classify(std::string_view s) {
  std::vector<Kind> kinds(s.size(), Kind::code);
  for (std::size_t i = 0; i < s.size();) {
    const Piece p = piece_at(s, i);
    if (p.is == Piece::Is::comment || p.is == Piece::Is::literal)
      std::fill(kinds.begin() + static_cast<std::ptrdiff_t>(p.begin),
                kinds.begin() + static_cast<std::ptrdiff_t>(p.end),
                p.is == Piece::Is::comment ? Kind::comment : Kind::literal);
    i = p.end;
  }
  return kinds;
}

}  // namespace ridge::simt
