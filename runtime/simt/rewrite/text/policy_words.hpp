// The C++ words that the policy's readers know.
#pragma once
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace ridge::simt {

// The rewriter writes this name for `asm` where the statement has names outside of its literals and expressions.
constexpr std::string_view kLatePtx = "__ridge_asm__";

inline bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

template <std::size_t N>
bool one_of(std::string_view s, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), s) != list.end();
}

// A word before a quote that makes the literal a raw one.
inline bool opens_raw(std::string_view word) {
  return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

}  // namespace ridge::simt
