// Text of compilers and submissions, made fit for terminals, JSON and XML.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ridge {

// Valid UTF-8 without control characters (newlines and tabs stay) and without marks that change the reading direction.
// An ASCII control character becomes '?'. Any other unfit character, and each byte that is not UTF-8, becomes U+FFFD.
std::string printable(std::string_view text);

// At most `bytes` of it, cut between characters, with a note on how much is missing.
std::string capped(const std::string& text, std::size_t bytes);

// `text` with every `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

// `text` with the command as this user types it: "./ridge" in a clone, "ridge" where it is installed.
std::string as_typed(std::string text);

// "17.6 / 18": to a tenth, and never rounded up to all of them.
std::string points_text(double points, double max);
// A goal's value in three digits, or in as many as tell it from the goal.
std::string value_text(double value, double goal);
// The name most like `typed`, where it is off by a slip or two of the fingers; else empty.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

// The version number, digits with points between them, that comes right behind the first `mark` that has one; else
// empty.
std::string version_after(std::string_view text, std::string_view mark);

// To stderr. Work goes on where that can't be written (a log on a full disk), which fmt::print would end by an
// exception.
template <class... T>
void tell(fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::format(format, std::forward<T>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// As fmt::print, with the command as this user types it.
template <class... T>
void print_as_typed(fmt::format_string<T...> format, T&&... values) {
  fmt::print("{}", as_typed(fmt::format(format, std::forward<T>(values)...)));
}

}  // namespace ridge
