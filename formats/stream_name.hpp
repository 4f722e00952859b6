// A stream's name as its program's source gives it: the variable that the line's call of cudaStreamCreate fills. The
// emulator ends up in students' programs, so this needs nothing but the C++ library.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge {

namespace stream_name_detail {

constexpr std::string_view kCall = "cudaStreamCreate";
constexpr std::size_t kLinesBack = 12;  // how far above the call its loop may begin
constexpr std::size_t kLongest = 48;    // characters of a name

inline bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

// The parts of `text` up to the bracket that closes it, split at its own commas.
inline std::vector<std::string> arguments(std::string_view text) {
  std::vector<std::string> all(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0) break;
    if (c == ',' && depth == 0)
      all.emplace_back();
    else
      all.back() += c;
  }
  for (std::string& a : all) a = std::string(trimmed(a));
  return all;
}

// "&lanes.copy" -> "lanes.copy", "(&(copy))" -> "copy". Empty for what is no plain variable.
inline std::string variable(std::string_view s) {
  while (true) {
    s = trimmed(s);
    if (s.size() > 1 && s.front() == '(' && s.back() == ')')
      s = s.substr(1, s.size() - 2);
    else if (!s.empty() && s.front() == '&')
      s.remove_prefix(1);
    else
      break;
  }
  if (s.rfind("this->", 0) == 0) s.remove_prefix(6);
  const bool plain = std::all_of(s.begin(), s.end(), [](char c) {
    return in_word(c) || c == '.' || c == '[' || c == ']' || c == '-' || c == '>' || c == ':' || c == '+' || c == ' ';
  });
  if (s.empty() || s.size() > kLongest || !plain || std::isdigit(static_cast<unsigned char>(s.front())) != 0) return {};
  return std::string(s);
}

// What follows "for (" on a line; nothing where it has no loop.
inline std::optional<std::string_view> loop_head(std::string_view line) {
  for (std::size_t at = 0; (at = line.find("for", at)) != std::string_view::npos; at += 3) {
    if (at > 0 && in_word(line[at - 1])) continue;
    const std::string_view rest = trimmed(line.substr(at + 3));
    if (!rest.empty() && rest.front() == '(') return rest.substr(1);
  }
  return std::nullopt;
}

// The last word of a declaration: "cudaStream_t* s" -> "s".
inline std::string_view last_word(std::string_view s) {
  s = trimmed(s);
  std::size_t from = s.size();
  while (from > 0 && in_word(s[from - 1])) --from;
  return s.substr(from);
}

// The element that a loop over a range names `name`: of {&in, &out} the `nth`, else "range[nth]". Empty: no such loop.
inline std::string of_range(std::string_view head, std::string_view name, std::size_t nth) {
  std::size_t colon = head.find(':');
  while (colon != std::string_view::npos && colon + 1 < head.size() && head[colon + 1] == ':')
    colon = head.find(':', colon + 2);
  if (colon == std::string_view::npos || last_word(head.substr(0, colon)) != name) return {};
  const std::string_view range = trimmed(head.substr(colon + 1));
  if (!range.empty() && range.front() == '{') {
    const std::vector<std::string> list = arguments(range.substr(1));
    return nth < list.size() ? variable(list[nth]) : std::string();
  }
  const std::string whole = variable(arguments(range).front());
  return whole.empty() ? whole : whole + "[" + std::to_string(nth) + "]";
}

// Whether the loop counts `name` from 0 in steps of one.
inline bool counts_from_zero(std::string_view head, std::string_view name) {
  const std::size_t equals = head.find('=');
  if (equals == std::string_view::npos || last_word(head.substr(0, equals)) != name) return false;
  const std::string_view start = trimmed(head.substr(equals + 1, head.find(';') - equals - 1));
  const std::string n(name);
  return (start == "0" || start == "0u") &&
         (head.find("++" + n) != std::string_view::npos || head.find(n + "++") != std::string_view::npos);
}

}  // namespace stream_name_detail

// Number of the calls that make a stream on a line.
inline std::size_t stream_calls(std::string_view line) {
  std::size_t calls = 0;
  for (std::size_t at = 0; (at = line.find(stream_name_detail::kCall, at)) != std::string_view::npos; ++at) ++calls;
  return calls;
}

// `lines` is the file; `line` (from 1) has calls of cudaStreamCreate or of its kin, of which `call` (from 0) is meant.
// `nth` is the number of streams alive, made by the same call, when this one was made: 1 in a loop's second turn.
// Empty where no variable is there.
inline std::string stream_variable(const std::vector<std::string>& lines, int line, std::size_t call, std::size_t nth) {
  namespace detail = stream_name_detail;
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return {};
  const auto at_line = static_cast<std::size_t>(line) - 1;
  std::string text = lines[at_line];
  std::size_t at = text.find(detail::kCall);
  for (; call > 0 && at != std::string::npos; --call) at = text.find(detail::kCall, at + 1);
  const std::size_t open = at == std::string::npos ? at : text.find('(', at);
  if (open == std::string::npos) return {};
  if (at_line + 1 < lines.size()) text += lines[at_line + 1];  // arguments may go on there
  const std::string name = detail::variable(detail::arguments(std::string_view(text).substr(open + 1)).front());
  const std::size_t bracket = name.rfind('[');
  const bool indexed = bracket != std::string::npos && name.back() == ']';
  const std::string index = indexed ? name.substr(bracket + 1, name.size() - bracket - 2) : std::string();
  for (std::size_t back = 0; back < detail::kLinesBack && back <= at_line; ++back) {
    const auto head = detail::loop_head(lines[at_line - back]);
    if (!head) continue;
    if (const std::string element = detail::of_range(*head, name, nth); !element.empty()) return element;
    if (indexed && detail::counts_from_zero(*head, index))
      return name.substr(0, bracket + 1) + std::to_string(nth) + "]";
  }
  return name;
}

struct MadeStream {
  std::uint64_t made_at = 0;  // place of the call in the program
  std::size_t nth = 0;
  std::vector<std::pair<std::string, int>> frames;  // files and lines of that place, innermost first
};

// Their variables, or empty texts. `lines_of` reads a file. Where a line makes several streams, the places of its calls
// tell which is which.
template <class LinesOf>
std::vector<std::string> stream_variables(const std::vector<MadeStream>& streams, LinesOf lines_of) {
  std::map<std::string, std::vector<std::string>> files;
  std::map<std::pair<std::string, int>, std::set<std::uint64_t>> places;
  for (const MadeStream& s : streams)
    for (const auto& frame : s.frames) {
      places[frame].insert(s.made_at);
      if (!files.count(frame.first)) files[frame.first] = lines_of(frame.first);
    }
  std::vector<std::string> names;
  for (const MadeStream& s : streams) {
    names.emplace_back();
    for (const auto& frame : s.frames) {
      const std::vector<std::string>& lines = files[frame.first];
      const auto line = static_cast<std::size_t>(std::max(frame.second, 1)) - 1;
      const std::size_t calls = line < lines.size() ? stream_calls(lines[line]) : 0;
      const std::set<std::uint64_t>& here = places[frame];
      if (calls == 0 || (calls > 1 && here.size() != calls)) continue;
      const auto which = calls > 1 ? std::distance(here.begin(), here.find(s.made_at)) : 0;
      names.back() = stream_variable(lines, frame.second, static_cast<std::size_t>(which), s.nth);
      break;
    }
  }
  return names;
}

}  // namespace ridge
