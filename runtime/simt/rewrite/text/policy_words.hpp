// The C++ words that the policy's readers know.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace ridge::simt {

// The rewriter writes this name for `asm` where the statement has names outside of its literals and expressions.
constexpr std::string_view kLatePtx = "__ridge_asm__";

template <std::size_t N>
bool one_of(std::string_view s, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), s) != list.end();
}

}  // namespace ridge::simt
