// Parses an answer that somebody typed.
#pragma once
#include <optional>
#include <string>

namespace ridge::loop {

struct TypedNumber {
  std::optional<double> value;
  std::string problem;  // where there is no value: why, for the one who typed it
};

// "4", "4x", "1e3", "1,5", "9/8" and "~20 sectors" are numbers; `unit` may stand behind one. "1,000" is refused: it
// is a thousand to some and one to others.
TypedNumber typed_number(const std::string& text, const std::string& unit);

// The choice, from 0, that "2", "2." or "b" names of `count`; none where it names no choice.
std::optional<std::size_t> typed_choice(const std::string& text, std::size_t count);

// Without blanks at both ends.
std::string trimmed(const std::string& text);

}  // namespace ridge::loop
