#include "learn/questions/typed.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "grader/base/text.hpp"

namespace ridge::loop {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A decimal comma becomes a point. A comma before exactly three digits could also group thousands.
bool read_comma(std::string& number, std::string& problem) {
  const auto comma = number.find(',');
  if (comma == std::string::npos) return true;
  std::size_t digits = comma + 1;
  while (digits < number.size() && std::isdigit(static_cast<unsigned char>(number[digits])) != 0) ++digits;
  const bool again = number.find_first_of(",.", comma + 1) != std::string::npos;
  if (again || number.find('.') < comma || digits - comma == 4) {
    problem =
        fmt::format("'{}' can be read in two ways: write it without commas, such as 1000 or 1.5", printable(number));
    return false;
  }
  number[comma] = '.';
  return true;
}

std::optional<double> plain_number(const std::string& text) {
  double value = 0;
  const char* begin = text.c_str() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const char* end = text.c_str() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

TypedNumber typed_number(const std::string& typed, const std::string& unit) {
  std::string text = lower(trimmed(typed));
  if (!text.empty() && text[0] == '~') text = trimmed(text.substr(1));
  for (const std::string& word : {lower(unit), std::string("times"), std::string("x")}) {
    if (word.empty() || text.size() <= word.size() || !text.ends_with(word)) continue;
    text = trimmed(text.substr(0, text.size() - word.size()));
    break;
  }
  std::string problem;
  const auto slash = text.find('/');
  std::string over = slash == std::string::npos ? "1" : trimmed(text.substr(slash + 1));
  text = trimmed(text.substr(0, slash));
  if (!read_comma(text, problem) || !read_comma(over, problem)) return {std::nullopt, problem};
  const auto value = plain_number(text), divisor = plain_number(over);
  if (!value || !divisor || *divisor == 0)
    return {std::nullopt, fmt::format("'{}' is no number: 4, 0.5, 1e3 and 9/8 are", printable(trimmed(typed)))};
  return {*value / *divisor, ""};
}

std::optional<std::size_t> typed_choice(const std::string& typed, std::size_t count) {
  std::string text = lower(trimmed(typed));
  if (text.size() == 2 && (text[1] == '.' || text[1] == ')')) text.pop_back();
  if (text.size() != 1) return std::nullopt;
  const std::size_t at =
      text[0] >= 'a' ? static_cast<std::size_t>(text[0] - 'a') : static_cast<std::size_t>(text[0] - '1');
  return (text[0] >= '1' && at < count) ? std::optional<std::size_t>(at) : std::nullopt;
}

}  // namespace ridge::loop
