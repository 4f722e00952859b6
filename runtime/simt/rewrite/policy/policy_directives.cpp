// The part of the policy that reads directives of a source as it was handed in.
#include <algorithm>
#include <array>
#include <cctype>

#include "policy.hpp"
#include "simt/rewrite/text/lexer.hpp"
#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

struct Line {
  std::string text;
  int number = 1;
  bool ambiguous = false;  // see below
};

// Where readers of C++ differ: a header's name may hold what looks like a comment, and a letter outside of ASCII in
// front of a prefix or a digit separator makes these a part of its word.
bool ambiguous(const Line& line, const Piece& p, View text) {
  const std::size_t open = line.text.rfind('<');
  if (p.is == Piece::Is::comment)
    return (line.text.find("include") != std::string::npos || line.text.find("embed") != std::string::npos) &&
           open != std::string::npos && line.text.find('>', open) == std::string::npos;
  const bool foreign = !line.text.empty() && static_cast<unsigned char>(line.text.back()) >= 128;
  return foreign && ((p.is == Piece::Is::literal && p.quote > p.begin) ||
                     (p.is == Piece::Is::number && text.find('\'') != View::npos));
}

// Lines as the compiler has them: joined behind backslashes, with a blank for a comment and "" for a raw literal, which
// may hold lines of its own. Other literals stay: names of headers are read.
std::vector<Line> lines_of(View text) {
  std::vector<Line> lines(1);
  int number = 1;
  for (std::size_t i = 0; i < text.size();) {
    const Piece p = piece_at(text, i);
    const View written = text.substr(p.begin, p.end - p.begin);
    lines.back().ambiguous = lines.back().ambiguous || ambiguous(lines.back(), p, written);
    number += static_cast<int>(std::count(written.begin(), written.end(), '\n'));
    if (written == "\n")
      lines.push_back({{}, number});
    else if (p.is == Piece::Is::comment)
      lines.back().text += ' ';
    else
      lines.back().text += p.raw ? "\"\"" : without_splices(written);
    i = p.end;
  }
  return lines;
}

// The directives that sources of labs have.
constexpr std::array<View, 14> kDirectives = {"include", "define", "undef",   "if",       "ifdef", "ifndef",  "elif",
                                              "else",    "endif",  "elifdef", "elifndef", "error", "warning", "pragma"};

}  // namespace

std::vector<Violation> check_directives(View text, View file) {
  std::vector<Violation> found;
  int number = 1;
  for (std::size_t i = 0; i < text.size() && found.empty(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') ++number;
    const bool line_end = c == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if ((c < 32 && c != '\n' && c != '\t' && !line_end) || c == 127)
      found.push_back({std::string(file), number,
                       "a control character (" + std::to_string(static_cast<int>(c)) +
                           "), which one reader takes for the end of a line and another does not",
                       "remove it; lines end in a line feed"});
  }
  for (const Line& joined : lines_of(text)) {
    View line = joined.text;
    auto add = [&](std::string what, std::string advice) {
      found.push_back({std::string(file), joined.number, std::move(what), std::move(advice)});
    };
    if (line.find("RIDGE_UNCOUNTED") != View::npos)
      add("the name 'RIDGE_UNCOUNTED' belongs to the emulator", "remove it");
    if (joined.ambiguous)
      add("text that compilers read in more than one way",
          "no comment inside of <...>, and letters of ASCII in front of quotes");
    std::size_t i = line.find_first_not_of(" \t\v\f\r");
    if (i == View::npos) continue;
    if (line[i] == '#')
      ++i;
    else if (line.substr(i, 2) == "%:")
      i += 2;
    else if (line.substr(i, 3) == "\?\?=")
      i += 3;
    else
      continue;
    i = std::min(line.find_first_not_of(" \t\v\f\r", i), line.size());
    View rest = line.substr(i);
    std::size_t end = 0;
    while (end < rest.size() && word_character(rest[end])) ++end;
    const View name_of_directive = rest.substr(0, end);
    if (name_of_directive.empty()) continue;
    if (name_of_directive == "line" || std::isdigit(static_cast<unsigned char>(rest[0])) != 0)
      add("#line is not allowed in a submission", "messages and counters name the lines of your own files");
    else if (name_of_directive == "embed")
      add("#embed is not allowed in a submission", "write the data as an array");
    else if (!one_of(name_of_directive, kDirectives))
      add("#" + std::string(name_of_directive) + " is not allowed in a submission",
          "#include is the way to another file");
    if (name_of_directive != "include") continue;
    std::size_t open = rest.find_first_of("\"<");
    if (open == View::npos) continue;
    std::size_t close = rest.find_first_of("\">", open + 1);
    View name = rest.substr(open + 1, close == View::npos ? View::npos : close - open - 1);
    if (!name.empty() && (name.front() == '/' || name.find("..") != View::npos))
      add("#include of " + std::string(name) + " leaves the submission",
          "include the lab's files and standard headers");
    for (View head : {"simt/", "ridge_simt/", "worker/", "collectives/"})
      if (name.starts_with(head))
        add("the header " + std::string(name) + " is one of the emulator's insides",
            "include CUDA's headers, such as cuda_runtime.h");
  }
  return found;
}

}  // namespace ridge::simt
