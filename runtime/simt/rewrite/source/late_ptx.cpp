#include "late_ptx.hpp"

#include <algorithm>

#include "inline_ptx.hpp"
#include "simt/rewrite/text/lexer.hpp"
#include "unsupported.hpp"

namespace ridge::simt {

namespace {

constexpr const char* kMissing = "::ridge_simt::missing_ptx()";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Behind the line of a directive that begins at `i`; `i` where none does. Only a listing with macros has some that no
// compiler sees: what they hold is no code. Its literals are whole.
std::size_t behind_directive(std::string_view s, std::size_t i) {
  if (s[i] != '#' || (i > 0 && s[i - 1] != '\n')) return i;
  return line_end(s, i);
}

// Behind the parenthesis that closes the one at `i`; the end where there is none.
std::size_t behind_parentheses(std::string_view s, std::size_t i) {
  int depth = 0;
  while (i < s.size()) {
    if (const std::size_t next = behind_directive(s, i); next != i) {
      i = next;
      continue;
    }
    if (s[i] == '(') ++depth;
    if (s[i] == ')' && --depth == 0) return i + 1;
    i = piece_at(s, i).end;
  }
  return s.size();
}

// The next of the two names outside of literals and directives, from `i` on; the end where there is none.
std::size_t next_name(std::string_view s, std::size_t i) {
  while (i < s.size()) {
    if (const std::size_t next = behind_directive(s, i); next != i) {
      i = next;
      continue;
    }
    const Piece p = piece_at(s, i);
    const std::string_view name = s.substr(p.begin, p.end - p.begin);
    if (p.is == Piece::Is::word && (name == kLatePtx || name == kLatePtxOfLibrary)) return i;
    i = p.end;
  }
  return s.size();
}

// The preprocessor's line marker: # 12 "file" flags
struct Marker {
  bool is = false;
  unsigned line = 0;
  std::string file;
};
Marker marker(std::string_view line) {
  Marker m;
  std::size_t i = line.starts_with("#line ") ? 6 : line.starts_with("# ") ? 2 : 0;
  if (i == 0 || i >= line.size() || line[i] < '0' || line[i] > '9') return m;
  for (; i < line.size() && line[i] >= '0' && line[i] <= '9'; ++i)
    m.line = 10 * m.line + static_cast<unsigned>(line[i] - '0');
  m.is = true;
  const std::size_t open = line.find('"', i), close = line.rfind('"');
  if (open < close) m.file = line.substr(open + 1, close - open - 1);
  return m;
}

template <class F>
void for_lines(std::string_view s, F f) {
  for (std::size_t from = 0; from <= s.size();) {
    const std::size_t end = std::min(s.find('\n', from), s.size());
    f(s.substr(from, end - from), end < s.size());
    from = end + 1;
  }
}

class LateStatements {
 public:
  explicit LateStatements(std::vector<LatePtxError>& errors) : errors_(errors) {}

  std::string run(std::string_view text) {
    std::size_t done = 0;
    for (std::size_t at = 0; (at = next_name(text, at)) < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && is_word(text[at])) ++at;
      const std::string_view name = text.substr(begin, at - begin);
      const bool of_library = name == kLatePtxOfLibrary;
      std::size_t open = at;
      while (open < text.size() && is_space(text[open])) ++open;
      if (open >= text.size() || text[open] != '(') continue;
      const std::size_t end = behind_parentheses(text, open);
      follow(text.substr(done, begin - done));
      out_ += text.substr(done, begin - done);
      statement(text.substr(open + 1, end - open - 2), of_library);
      done = at = end;
    }
    out_ += text.substr(done);
    return std::move(out_);
  }

 private:
  // Which line of which file comes behind `text`.
  void follow(std::string_view text) {
    for_lines(text, [&](std::string_view line, bool ended) {
      if (const Marker m = marker(line); m.is && ended) {
        line_ = m.line;
        if (!m.file.empty()) file_ = m.file;
      } else if (ended) {
        ++line_;
      }
    });
  }

  void statement(std::string_view region, bool of_library) {
    std::string operands, lines;
    for_lines(region, [&](std::string_view line, bool ended) {
      if (line.starts_with('#'))
        lines += line;
      else
        operands += line;
      operands += ' ';
      if (ended) lines += '\n';
    });
    const std::string call = ptx_as_call(operands);
    const bool missing = call.empty() && !ptx_is_empty(operands);
    if (missing && !of_library) errors_.push_back({file_, line_});
    out_ += missing ? kMissing : call.empty() ? "((void)0)" : call;
    out_ += lines;
    follow(region);
  }

  std::vector<LatePtxError>& errors_;
  std::string out_, file_;
  unsigned line_ = 1;
};

}  // namespace

bool ptx_has_macros(std::string_view operands) {
  for (std::size_t i = 0; i < operands.size();) {
    const Piece p = piece_at(operands, i);
    if (p.is == Piece::Is::word || p.is == Piece::Is::number) return true;
    i = operands[i] == '(' ? behind_parentheses(operands, i) : p.end;
  }
  return false;
}

std::string with_missing_ptx(std::string rewritten) {
  replace_all(rewritten, "_Pragma(\"GCC error \\\"" + unsupported_word("asm") + "\\\"\")", kMissing);
  replace_all(rewritten, kLatePtx, kLatePtxOfLibrary);
  return rewritten;
}

std::string translate_late_ptx(std::string_view text, std::vector<LatePtxError>& errors) {
  return LateStatements(errors).run(text);
}

}  // namespace ridge::simt
