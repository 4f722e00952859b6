// Tells the bytes of a C++ file that are code from those of comments and literals; words of text.
#pragma once
#include <cctype>
#include <string_view>
#include <vector>

namespace ridge::simt {

enum class Kind : char { code, comment, literal };

std::vector<Kind> classify(std::string_view source);

inline bool starts_with(std::string_view s, std::string_view head) { return s.substr(0, head.size()) == head; }
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace ridge::simt
