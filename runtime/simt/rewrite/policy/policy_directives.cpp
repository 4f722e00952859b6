// The part of the policy that reads directives of a source as it was handed in.
#include <algorithm>
#include <array>
#include <cctype>

#include "policy.hpp"
#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

// Lines as the compiler has them: joined behind backslashes, without comments; a blank for each character of a literal.
// In raw literals nothing is joined, and they may hold lines of their own.
class Lines {
 public:
  explicit Lines(View text) : text_(text) {}

  struct Line {
    std::string text;
    int number = 1;
  };

  std::vector<Line> run() {
    for (begin(); at_ < text_.size();) {
      const std::string two = ahead(2);
      if (two == "//") {
        while (at_ < text_.size() && peek() != '\n') take();
      } else if (two == "/*") {
        take(), take();
        while (at_ < text_.size() && ahead(2) != "*/") take();
        if (at_ < text_.size()) take(), take();
        line_.text += ' ';
      } else if (const char c = take(); c == '\n') {
        end();
      } else if (c == '"' && opens_raw(word_)) {
        raw();
      } else if (c == '"' || (c == '\'' && (word_.empty() || !number_))) {
        literal(c);
      } else {
        if (!word_character(c)) word_.clear();
        if (word_.empty()) number_ = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (word_character(c)) word_ += c;
        line_.text += c;
      }
    }
    end();
    return std::move(lines_);
  }

 private:
  void begin() { line_ = {std::string(), number_of_line_}; }
  void end() {
    lines_.push_back(std::move(line_));
    word_.clear();
    begin();
  }

  // Behind backslashes that end a line; a blank behind the backslash does not part the lines.
  std::size_t joined(std::size_t at, int& lines) const {
    while (at < text_.size() && text_[at] == '\\') {
      std::size_t end = at + 1;
      while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t' || text_[end] == '\r')) ++end;
      if (end >= text_.size() || text_[end] != '\n') break;
      ++lines;
      at = end + 1;
    }
    return at;
  }
  char peek() {
    at_ = joined(at_, number_of_line_);
    return at_ < text_.size() ? text_[at_] : '\n';
  }
  char take() {
    const char c = peek();
    if (at_ < text_.size()) ++at_;
    if (c == '\n') ++number_of_line_;
    return c;
  }
  std::string ahead(int count) {
    std::string s;
    int unused = 0;
    for (std::size_t at = at_; count-- > 0;) {
      at = joined(at, unused);
      if (at >= text_.size()) break;
      s += text_[at++];
    }
    return s;
  }

  void literal(char quote) {
    line_.text += quote;
    for (char c = peek(); at_ < text_.size() && c != quote && c != '\n'; c = peek()) {
      take();
      line_.text += c;  // names of headers are read
      if (c == '\\' && peek() != '\n') line_.text += take();
    }
    if (at_ < text_.size() && peek() == quote) line_.text += take();
    word_.clear();
  }

  void raw() {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ")" + std::string(text_.substr(at_, open - at_)) + "\"";
    const std::size_t end = text_.find(close, open);
    const std::size_t stop = end == View::npos ? text_.size() : end + close.size();
    for (; at_ < stop; ++at_)
      if (text_[at_] == '\n') ++number_of_line_;
    line_.text += "\"\"";
    word_.clear();
  }

  View text_;
  std::size_t at_ = 0;
  int number_of_line_ = 1;
  Line line_;
  std::vector<Line> lines_;
  std::string word_;  // that ends here
  bool number_ = false;
};

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
  for (const Lines::Line& joined : Lines(text).run()) {
    View line = joined.text;
    auto add = [&](std::string what, std::string advice) {
      found.push_back({std::string(file), joined.number, std::move(what), std::move(advice)});
    };
    if (line.find("RIDGE_UNCOUNTED") != View::npos)
      add("the name 'RIDGE_UNCOUNTED' belongs to the emulator", "remove it");
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
