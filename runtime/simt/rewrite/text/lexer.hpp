// C++ as a compiler reads it: comments, literals, numbers and words, behind backslashes that end lines. All that reads
// C++ sources here stands on `piece_at`.
#pragma once
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::simt {

inline bool starts_with(std::string_view s, std::string_view head) { return s.substr(0, head.size()) == head; }
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
// A word's character as compilers take it: with the dollar.
inline bool word_character(char c) { return is_word(c) || c == '$'; }

// One token, one byte of white space, a comment without the line's end, or a splice: a backslash with the end of its
// line, which is no part of the language outside of raw literals. Words, numbers, comments and literals may hold some.
struct Piece {
  enum class Is : char { space, splice, comment, literal, number, word, other };
  Is is = Is::other;
  std::size_t begin = 0, end = 0;
  std::size_t quote = 0;  // of a literal: behind its prefix
  bool raw = false;       // of a literal: R"delimiter(...)delimiter"
};

// The piece of `s` that begins at `i` < s.size(), where another one ends. A literal that is not closed ends with its
// line; a comment or a raw literal that is not closed ends with the text.
Piece piece_at(std::string_view s, std::size_t i);

// Text as the language has it, outside of raw literals.
std::string without_splices(std::string_view s);

// What a literal holds between its quotes, with its escapes as they are written, and without splices.
std::string contents_of(std::string_view s, const Piece& literal);

// The end of the line that `i` is in, as a directive's: behind splices, comments and raw literals that hold line ends.
std::size_t line_end(std::string_view s, std::size_t i);

enum class Kind : char { code, comment, literal };

// Of each byte; a literal's prefix is a part of it.
std::vector<Kind> classify(std::string_view source);

}  // namespace ridge::simt
