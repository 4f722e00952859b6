#include "inline_ptx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "lexer.hpp"

namespace ridge::simt {

namespace {

constexpr std::array<std::string_view, 5> kScopes = {"global", "relaxed", "cta", "gpu", "sys"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {
    {{"u32", "unsigned"}, {"s32", "int"}, {"u64", "unsigned long long"}, {"f32", "float"}, {"f64", "double"}}};

// Between these characters, where they are outside of literals and parentheses.
std::vector<std::string> split(std::string_view s, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool literal = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '"' && (i == 0 || s[i - 1] != '\\')) literal = !literal;
    if (!literal) depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == at && !literal && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Literals' contents without spaces, joined.
std::string template_of(std::string_view s) {
  std::string text;
  bool literal = false;
  for (char c : s) {
    if (c == '"')
      literal = !literal;
    else if (literal && std::isspace(static_cast<unsigned char>(c)) == 0)
      text += c;
  }
  return text;
}

// "l"(expression) -> (expression)
std::string expression_of(const std::string& operand) {
  const std::size_t open = operand.find('('), close = operand.rfind(')');
  return open == std::string::npos || close == std::string::npos ? "" : operand.substr(open, close - open + 1);
}

}  // namespace

std::string ptx_as_call(std::string_view operands) {
  const std::vector<std::string> sections = split(operands, ':');
  if (sections.size() < 3 || !std::all_of(sections[1].begin(), sections[1].end(), is_space)) return {};
  const std::string code = template_of(sections[0]);
  const std::vector<std::string> inputs = split(sections[2], ',');
  const std::size_t address = code.find('[');
  if (address == std::string::npos || inputs.size() != 2) return {};
  if (const std::string rest = code.substr(address); rest != "[%0],%1;" && rest != "[%0],%1") return {};

  const std::vector<std::string> words = split(code.substr(0, address), '.');
  if (words.size() < 3 || words.front() != "red" || words[words.size() - 2] != "add") return {};
  for (std::size_t i = 1; i + 2 < words.size(); ++i)
    if (std::find(kScopes.begin(), kScopes.end(), words[i]) == kScopes.end()) return {};
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == words.back(); });
  const std::string p = expression_of(inputs[0]), v = expression_of(inputs[1]);
  if (type == kTypes.end() || p.empty() || v.empty()) return {};
  return "::ridge_simt::red_add<" + std::string(type->second) + ">(" + p + ", " + v + ")";
}

}  // namespace ridge::simt
