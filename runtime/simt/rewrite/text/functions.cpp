#include "functions.hpp"

#include <algorithm>
#include <array>

#include "policy_words.hpp"

namespace ridge::simt {

namespace {

constexpr std::array<std::string_view, 26> kKeywords = {
    "if",      "for",      "while",   "switch",        "return",   "sizeof",  "catch",       "else",     "do",
    "new",     "delete",   "throw",   "case",          "alignof",  "typeid",  "static_cast", "goto",     "using",
    "typedef", "operator", "default", "static_assert", "requires", "concept", "asm",         "constexpr"};
// Words with parentheses that stand in front of a function's name.
constexpr std::array<std::string_view, 10> kAttributes = {
    "__launch_bounds__", "__cluster_dims__", "__attribute__", "__align__", "alignas",
    "decltype",          "noexcept",         "__declspec",    "explicit",  "__block_size__"};
constexpr std::array<std::string_view, 7> kBehind = {"const", "noexcept", "override", "final",
                                                     "try",   "volatile", "mutable"};

std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

class Reader {
 public:
  Reader(std::string_view s, std::vector<Kind> kind)
      : s_(s), kind_(without_directives(s, std::move(kind), &out_.macros)), walk_(s_, kind_) {}

  SourceFunctions run() {
    std::size_t i = 0;
    while (i < s_.size() && out_.readable) i = step(i);
    if (!scopes_.empty()) out_.readable = false;
    return std::move(out_);
  }

 private:
  std::size_t step(std::size_t i) {
    if (!walk_.code(i)) return i + 1;
    const char c = s_[i];
    if (c == '(' || c == '[') {
      const std::size_t close = walk_.matching(i);
      if (close == kNoPlace) out_.readable = false;
      return close == kNoPlace ? i + 1 : close + 1;
    }
    if (c == ';') {
      if (!using_namespace(start_, i)) declaration(start_, i, false);
      start_ = i + 1;
    } else if (c == '}') {
      if (scopes_.empty()) {
        out_.readable = false;
      } else {
        if (scopes_.back() != kNamespace) out_.classes.push_back({scopes_.back(), i});
        scopes_.pop_back();
      }
      start_ = i + 1;
    } else if (c == ':' && one_of(stripped(s_.substr(start_, i - start_)), kAccess)) {
      start_ = i + 1;
    } else if (c == '{') {
      return brace(i);
    }
    return i + 1;
  }

  std::size_t brace(std::size_t i) {
    const std::size_t first = walk_.skip_space(start_);
    std::string_view word = s_.substr(first, walk_.word_end(first) - first);
    std::size_t at = first;
    if (word == "inline" || word == "extern" || word == "export") {
      at = walk_.skip_space(walk_.word_end(first));
      while (at < i && !walk_.code(at)) ++at;  // extern "C"
      at = walk_.skip_space(at);
    }
    const std::string_view second = s_.substr(at, walk_.word_end(at) - at);
    const bool space = word == "namespace" || second == "namespace" || (word == "extern" && at == i);
    for (std::size_t k = first; space && k < i; ++k)
      if (walk_.code(k) && is_word(s_[k])) {
        out_.namespaces.emplace(s_.substr(k, walk_.word_end(k) - k));
        k = walk_.word_end(k) - 1;
      }
    if (space || (!declares_function(start_, i) && is_class(start_, i))) {
      scopes_.push_back(space ? kNamespace : i);
      start_ = i + 1;
      return i + 1;
    }
    const std::size_t close = walk_.matching(i);
    if (close == kNoPlace) {
      out_.readable = false;
      return i + 1;
    }
    const std::size_t before = walk_.skip_space_back(i);
    if (declaration(start_, i, true)) {
      out_.all.back().body = i;
      out_.all.back().end = close;
      start_ = close + 1;
    } else if (before > start_ && (s_[before - 1] == ')' || one_of(walk_.word_before(before), kBehind))) {
      const std::string_view head = s_.substr(start_, i - start_);  // of a constructor, an operator
      const bool device = head.find("__device__") != kNoPlace && head.find("__host__") == kNoPlace;
      out_.others.push_back({i, close, device});
      start_ = close + 1;
    }
    return close + 1;
  }

  bool using_namespace(std::size_t from, std::size_t to) {
    const std::size_t first = walk_.skip_space(from), end = walk_.word_end(first);
    const std::size_t second = walk_.skip_space(end), name = walk_.skip_space(walk_.word_end(second));
    if (s_.substr(first, end - first) != "using" || s_.substr(second, 9) != "namespace" || name >= to) return false;
    out_.used_namespaces.emplace(stripped(s_.substr(name, to - name)));
    return true;
  }

  bool is_class(std::size_t from, std::size_t to) const {
    std::size_t at = walk_.skip_space(from);
    for (;;) {
      const std::size_t end = walk_.word_end(at);
      const std::string_view word = s_.substr(at, end - at);
      if (word == "class" || word == "struct" || word == "union") return true;
      if (word == "template") {
        at = walk_.skip_space(walk_.behind_angles(walk_.skip_space(end)));
      } else if (word == "typedef" || word == "static" || word == "const") {
        at = walk_.skip_space(end);
      } else {
        return false;
      }
      if (at >= to) return false;
    }
  }

  bool declares_function(std::size_t from, std::size_t to) {
    SourceFunction f;
    return head(from, to, f);
  }

  // Reads "specifiers name(parameters) rest" between `from` and `to`.
  bool head(std::size_t from, std::size_t to, SourceFunction& f) const {
    std::size_t at = walk_.skip_space(from);
    while (s_.substr(at, walk_.word_end(at) - at) == "template") {
      const std::size_t angles = walk_.skip_space(walk_.word_end(at)), end = walk_.behind_angles(angles);
      if (end == angles) return false;
      at = walk_.skip_space(end);
    }
    for (std::size_t i = at; i < to;) {
      if (!walk_.code(i)) {
        ++i;
      } else if (is_word(s_[i])) {
        const std::size_t end = walk_.word_end(i), next = walk_.skip_space(end);
        const std::string_view word = s_.substr(i, end - i);
        if (next < to && s_[next] == '(') {
          const std::size_t close = walk_.matching(next);
          if (close == kNoPlace || close > to) return false;
          if (one_of(word, kAttributes)) {
            i = close + 1;
            continue;
          }
          if (one_of(word, kKeywords)) return false;
          if (!rest_fits(close + 1, to)) {
            f.unclear = true;  // a macro's call, perhaps
            i = close + 1;
            continue;
          }
          f.name = word;
          f.at = i;
          f.open = next;
          f.close = close;
          const std::size_t before = walk_.skip_space_back(i);
          if (before >= 2 && s_.substr(before - 2, 2) == "::") f.member = true;
          if (before > from && s_[before - 1] == '~') return false;
          return before > at || f.unclear;  // else it has no type: a macro's call, or a constructor
        }
        f.words.emplace_back(word);
        i = end;
      } else if (s_[i] == '=' || s_[i] == '(' || s_[i] == ',') {
        return false;
      } else {
        ++i;
      }
    }
    return false;
  }

  // Checks the text between the parameters and the body or the semicolon.
  bool rest_fits(std::size_t from, std::size_t to) const {
    for (std::size_t i = walk_.skip_space(from); i < to; i = walk_.skip_space(i)) {
      const std::size_t end = walk_.word_end(i);
      const std::string_view word = s_.substr(i, end - i);
      if (one_of(word, kBehind))
        i = end;
      else if (s_[i] == '&')
        ++i;
      else
        return s_[i] == ':' || s_[i] == '=' || s_.substr(i, 2) == "->" || s_.substr(i, 2) == "__";
    }
    return true;
  }

  bool declaration(std::size_t from, std::size_t to, bool body) {
    SourceFunction f;
    if (!head(from, to, f)) return false;
    f.begin = walk_.skip_space(from);
    f.member = f.member || std::any_of(scopes_.begin(), scopes_.end(), [](std::size_t s) { return s != kNamespace; });
    auto has = [&](std::string_view word) { return std::find(f.words.begin(), f.words.end(), word) != f.words.end(); };
    f.global = has("__global__");
    f.device = has("__device__");
    f.host = has("__host__");
    f.unclear = f.unclear || has("constexpr") || has("consteval") || has("friend") || has("using") || has("typedef");
    if (!body && (has("return") || has("else"))) return false;
    for (std::string_view part : walk_.parts(f.open, f.close)) {
      ++f.parameters;
      if (part.find("...") != std::string_view::npos) f.parameters += 1000;
      if (part.find('=') == std::string_view::npos) f.required = f.parameters;
    }
    if (f.parameters > 1000) f.required = 0;
    out_.all.push_back(std::move(f));
    return true;
  }

  static constexpr std::array<std::string_view, 3> kAccess = {"public", "private", "protected"};
  std::string_view s_;
  SourceFunctions out_;
  std::vector<Kind> kind_;
  SourceWalk walk_;
  static constexpr std::size_t kNamespace = kNoPlace;
  std::vector<std::size_t> scopes_;  // the open brace of a class, or kNamespace
  std::size_t start_ = 0;            // of the declaration that is being read
};

}  // namespace

const SourceFunction* SourceFunctions::around(std::size_t i) const {
  if (!readable) return nullptr;
  auto at =
      std::upper_bound(all.begin(), all.end(), i, [](std::size_t k, const SourceFunction& f) { return k < f.at; });
  while (at != all.begin()) {
    --at;
    if (at->inside(i)) return &*at;
    if (at->defined()) return nullptr;
  }
  return nullptr;
}

const SourceBody* SourceFunctions::other_around(std::size_t i) const {
  for (const SourceBody& b : others)
    if (i > b.open && i < b.close) return &b;
  return nullptr;
}

std::size_t SourceWalk::skip_space(std::size_t i) const {
  while (i < s_.size() && (kind_[i] == Kind::comment || (code(i) && is_space(s_[i])))) ++i;
  return i;
}

std::size_t SourceWalk::skip_space_back(std::size_t i) const {
  while (i > 0 && (kind_[i - 1] == Kind::comment || (code(i - 1) && is_space(s_[i - 1])))) --i;
  return i;
}

std::size_t SourceWalk::word_end(std::size_t i) const {
  while (i < s_.size() && code(i) && is_word(s_[i])) ++i;
  return i;
}

std::string_view SourceWalk::word_before(std::size_t end) const {
  std::size_t i = end;
  while (i > 0 && code(i - 1) && is_word(s_[i - 1])) --i;
  return s_.substr(i, end - i);
}

std::size_t SourceWalk::matching(std::size_t open, std::size_t bytes) const {
  std::vector<char> wanted;
  for (std::size_t i = open; i < s_.size() && i - open < bytes; ++i) {
    if (!code(i)) continue;
    const char c = s_[i];
    if (c == '(' || c == '[' || c == '{') wanted.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c != ')' && c != ']' && c != '}') continue;
    if (wanted.back() != c) return kNoPlace;
    wanted.pop_back();
    if (wanted.empty()) return i;
  }
  return kNoPlace;
}

std::size_t SourceWalk::behind_angles(std::size_t i) const {
  if (i >= s_.size() || s_[i] != '<') return i;
  constexpr std::size_t kLongest = 2000;
  int depth = 0;
  for (std::size_t k = i; k < s_.size() && k - i < kLongest; ++k) {
    if (!code(k)) continue;
    const char c = s_[k];
    if (c == '(' || c == '[') {
      const std::size_t close = matching(k, kLongest);
      if (close == kNoPlace) return i;
      k = close;
    }
    if (c == ';' || c == '{' || c == '}' || s_.substr(k, 2) == "&&" || s_.substr(k, 2) == "||") return i;
    if (c == '<') ++depth;
    if (c == '>' && --depth == 0) return k + 1;
  }
  return i;
}

std::vector<std::string_view> SourceWalk::parts(std::size_t open, std::size_t close) const {
  std::vector<std::string_view> found;
  std::size_t from = open + 1;
  int angles = 0;
  for (std::size_t i = open + 1; i <= close; ++i) {
    if (!code(i)) continue;
    if (i < close && (s_[i] == '(' || s_[i] == '[' || s_[i] == '{')) {
      const std::size_t end = matching(i);
      if (end == kNoPlace) return found;
      i = end;
      continue;
    }
    if (s_[i] == '<') ++angles;
    if (s_[i] == '>' && angles > 0) --angles;
    if (i != close && (s_[i] != ',' || angles > 0)) continue;
    const std::string_view part = stripped(s_.substr(from, i - from));
    const bool empty = skip_space(from) >= i;
    if (!(i == close && found.empty() && (empty || part == "void"))) found.push_back(part);
    from = i + 1;
  }
  return found;
}

std::vector<Kind> without_directives(std::string_view s, std::vector<Kind> kind, std::set<std::string>* macros) {
  std::vector<bool> dead, dead_else;  // of the conditions that are open
  std::vector<Kind> before = kind;
  bool line_begins = true, alive = true;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (line_begins && before[i] == Kind::code && s[i] == '#') {
      const std::size_t end = line_end(s, i);
      const SourceWalk walk(s, before);
      std::size_t at = walk.skip_space(i + 1), stop = walk.word_end(at);
      const std::string_view directive = s.substr(at, stop - at);
      at = walk.skip_space(stop), stop = walk.word_end(at);
      const std::string_view word = s.substr(at, stop - at);
      if (directive == "define" && macros != nullptr) macros->emplace(word);
      if (directive == "if" || directive == "ifdef" || directive == "ifndef")
        dead.push_back((directive == "if" && word == "0") || (directive == "ifndef" && word == "__CUDACC__")),
            dead_else.push_back(directive == "ifdef" && word == "__CUDACC__");
      else if ((directive == "else" || directive == "elif") && !dead.empty())
        dead.back() = dead_else.back();
      else if (directive == "endif" && !dead.empty())
        dead.pop_back(), dead_else.pop_back();
      for (std::size_t k = i; k < end; ++k) kind[k] = Kind::comment;
      alive = std::find(dead.begin(), dead.end(), true) == dead.end();
      i = end;
      line_begins = true;
      continue;
    }
    if (!alive) kind[i] = Kind::comment;
    if (s[i] == '\n')
      line_begins = true;
    else if (!is_space(s[i]) && before[i] != Kind::comment)
      line_begins = false;
  }
  return kind;
}

SourceFunctions functions_of(std::string_view s, const std::vector<Kind>& kind) { return Reader(s, kind).run(); }

}  // namespace ridge::simt
