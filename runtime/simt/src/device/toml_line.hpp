// Helpers of the parsers of device profiles and topologies. These parsers are part of programs, so they have no
// dependencies.
#pragma once
#include <string_view>

namespace ridge::simt {

inline std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : s.substr(first, last - first + 1);
}

// A line without its comment; a # inside quotes stays.
inline std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

}  // namespace ridge::simt
