#include "grader/compile/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "simt/rewrite/source/unsupported.hpp"

namespace ridge {

namespace {

enum class Kind { none, message, note };

// "file:line:column: error: text", as GCC and Clang write it. `own` is false for headers that are not the user's.
Kind classify(const std::string& line, bool& own) {
  for (const char* word : {": error: ", ": fatal error: ", ": warning: ", ": note: "}) {
    auto at = line.find(word);
    if (at == std::string::npos || at == 0 || std::isdigit(static_cast<unsigned char>(line[at - 1])) == 0) continue;
    std::string file = line.substr(0, line.find(':'));
    own = file != "<scratch space>" && file.find("/usr/") == std::string::npos &&
          file.find("/simt/include/") == std::string::npos && file.find("/c++/") == std::string::npos;
    return word == std::string(": note: ") ? Kind::note : Kind::message;
  }
  return Kind::none;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Messages about what the rewriter wrote, in the words of what the user wrote.
std::string in_own_words(const std::string& line) {
  for (const char* launch : {"no matching constructor for initialization of '::ridge_simt::Launch'",
                             "no matching function for call to ‘ridge_simt::Launch::Launch("})
    if (auto at = line.find(launch); at != std::string::npos)
      return line.substr(0, at) +
             "<<<...>>> takes a grid and a block (integers or dim3), then bytes of shared memory and a stream";
  // GCC says so itself.
  for (const char* header : {"vector", "string", "map", "set", "array", "tuple", "optional", "random", "thread"})
    if (contains(line, fmt::format("no member named '{}' in namespace 'std'", header)))
      return line + fmt::format("; is #include <{}> missing?", header);
  if (auto at = line.find("error: #error "); at != std::string::npos)
    return line.substr(0, at + 7) + line.substr(at + 14);
  return line;
}

// A feature that the emulator lacks explains the errors that follow from it.
std::string unsupported_only(const std::string& messages) {
  std::istringstream lines(messages);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (contains(line, "error: ") && contains(line, simt::kUnsupportedMark) && !contains(kept, line + "\n"))
      kept += line + "\n";
  return kept;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The start and the length of the word at `at`.
std::pair<std::size_t, std::size_t> word_at(const std::string& line, std::size_t at) {
  std::size_t from = at, to = at;
  while (from > 0 && in_word(line[from - 1])) --from;
  while (to < line.size() && in_word(line[to])) ++to;
  return {from, to - from};
}

// The places of a word in line[from, to).
std::vector<std::size_t> places_of(const std::string& word, const std::string& line, std::size_t from, std::size_t to) {
  std::vector<std::size_t> all;
  for (std::size_t at = from; (at = line.find(word, at)) < to; ++at)
    if ((at == 0 || !in_word(line[at - 1])) && (at + word.size() >= line.size() || !in_word(line[at + word.size()])))
      all.push_back(at);
  return all;
}

// The place in `written` of place `at` in `rewritten`. Both lines begin and end alike. Between them the word at that
// place is looked for: rewriting repeats all names of a launch equally often.
std::size_t own_column(const std::string& rewritten, const std::string& written, std::size_t at) {
  const std::size_t least = std::min(rewritten.size(), written.size());
  std::size_t head = 0, tail = 0;
  while (head < least && rewritten[head] == written[head]) ++head;
  while (tail < least - head && rewritten[rewritten.size() - 1 - tail] == written[written.size() - 1 - tail]) ++tail;
  if (at < head) return at;
  if (at >= rewritten.size() - tail) return at - rewritten.size() + written.size();
  const auto [from, length] = word_at(rewritten, at);
  if (length == 0) return head;
  const std::string word = rewritten.substr(from, length);
  const std::size_t begin = word_at(written, head).first;
  const auto there = places_of(word, rewritten, begin, rewritten.size() - tail);
  const auto here = places_of(word, written, begin, written.size() - tail);
  const auto number = static_cast<std::size_t>(std::lower_bound(there.begin(), there.end(), from) - there.begin());
  return here.empty() || number >= there.size() ? head : here[number * here.size() / there.size()];
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

// "name:26:16: error: ...": the line and the column, and what follows them.
struct Place {
  std::size_t line = 0, column = 0;
  std::string rest;
};
std::optional<Place> place_in(const std::string& message, const std::string& file) {
  Place p;
  bool own = false;
  if (classify(message, own) == Kind::none || message.rfind(file + ":", 0) != 0) return {};
  std::istringstream numbers(message.substr(file.size() + 1));
  char colon = 0;
  if (!(numbers >> p.line >> colon >> p.column) || colon != ':' || p.line == 0 || p.column == 0) return {};
  std::getline(numbers, p.rest);
  return p;
}

}  // namespace

std::string in_own_columns(const std::string& output, const std::string& file, const std::string& rewritten,
                           const std::string& written) {
  const std::vector<std::string> said = lines_of(output), own = lines_of(written);
  std::vector<std::string> read = lines_of(rewritten);
  if (!read.empty() && read[0].rfind("#line", 0) == 0) read.erase(read.begin());
  std::string out;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const auto place = place_in(said[i], file);
    if (!place || place->line > std::min(own.size(), read.size()) || own[place->line - 1] == read[place->line - 1]) {
      out += said[i] + "\n";
      continue;
    }
    const std::string& line = own[place->line - 1];
    const std::size_t column = own_column(read[place->line - 1], line, place->column - 1);
    out += fmt::format("{}:{}:{}{}\n", file, place->line, column + 1, place->rest);
    out += fmt::format("{}\n{}^\n", line, std::string(column, ' '));
    // In the place of what the compiler shows.
    bool own_file = false;
    for (int lines = 0; lines < 3 && i + 1 < said.size(); ++lines, ++i) {
      const std::string& next = said[i + 1];
      const bool shown = next.empty() || next[0] == ' ' || next == read[place->line - 1];
      if (!shown || classify(next, own_file) != Kind::none || next.rfind("In file", 0) == 0) break;
    }
  }
  return out;
}

std::string own_messages(const std::string& output) {
  std::istringstream lines(output);
  std::string kept, last;
  bool keeping = false, message_kept = false, skip_caret = false;
  for (std::string line; std::getline(lines, line);) {
    bool own = false;
    Kind kind = classify(line, own);
    if (kind == Kind::message) {
      keeping = message_kept = own;
    } else if (kind == Kind::note) {
      keeping = own && message_kept && !contains(line, "instantiation") && !contains(line, "requested here") &&
                !contains(line, "template argument") && !contains(line, "required from") && !contains(line, "skipping");
    } else if (line.rfind("In file included from", 0) == 0 || contains(line, ": In ") ||
               contains(line, "required from") || contains(line, " generated.")) {
      keeping = false;
    }
    if (skip_caret && kind == Kind::none) {
      skip_caret = false;
      continue;
    }
    skip_caret = false;
    if (!keeping) continue;
    if (kind == Kind::none && (contains(line, "::ridge_simt::") || contains(line, "_Pragma(\"GCC error"))) {
      skip_caret = true;  // the launch as rewritten, and the caret below it, help nobody
      continue;
    }
    std::string words = in_own_words(line);
    // GCC repeats itself where several overloads fail alike.
    if (kind != Kind::none && !last.empty() && words == last) continue;
    if (kind != Kind::none) last = words;
    kept += words + "\n";
  }
  if (std::string unsupported = unsupported_only(kept); !unsupported.empty()) return unsupported;
  return contains(kept, "error: ") ? kept : output;
}

}  // namespace ridge
