// The words and characters of a CUDA source, each with its place as debug information names it.
#pragma once
#include <string_view>
#include <vector>

namespace ridge::simt {

struct Token {
  std::string_view text;
  int line, column;  // from 1
};

// Words and single characters of code, "->" as one; no comments, no literals. Lines as #line says.
std::vector<Token> tokens_of(std::string_view source);

// A word that does not begin with a digit.
bool is_name(std::string_view token);

}  // namespace ridge::simt
