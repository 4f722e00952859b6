#include "rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ridge::simt {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

enum class Kind : char { code, comment, literal };

// True where a literal that starts at `i` has no prefix, or an encoding prefix: not the quote of 1'000.
bool starts_literal(std::string_view s, std::size_t i) {
  std::size_t word = i;
  while (word > 0 && i - word < 3 && is_word(s[word - 1])) --word;
  std::string_view prefix = s.substr(word, i - word);
  return prefix.empty() || prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
}

// What every byte is part of.
std::vector<Kind> classify(std::string_view s) {
  std::vector<Kind> kinds(s.size(), Kind::code);
  auto mark = [&](std::size_t from, std::size_t to, Kind kind) {
    for (std::size_t i = from; i < std::min(to, s.size()); ++i) kinds[i] = kind;
  };
  std::size_t i = 0;
  while (i < s.size()) {
    std::size_t end = i + 1;
    if (s.substr(i, 2) == "//") {
      end = i;
      while (end < s.size() && (s[end] != '\n' || s[end - 1] == '\\')) ++end;
      mark(i, end, Kind::comment);
    } else if (s.substr(i, 2) == "/*") {
      end = s.find("*/", i + 2);
      end = end == std::string_view::npos ? s.size() : end + 2;
      mark(i, end, Kind::comment);
    } else if (s.substr(i, 2) == "R\"" && starts_literal(s, i)) {
      std::size_t open = s.find('(', i);
      if (open == std::string_view::npos) break;
      std::string close = ")" + std::string(s.substr(i + 2, open - i - 2)) + "\"";
      end = s.find(close, open);
      end = end == std::string_view::npos ? s.size() : end + close.size();
      mark(i, end, Kind::literal);
    } else if (s[i] == '"' || (s[i] == '\'' && starts_literal(s, i))) {
      while (end < s.size() && s[end] != s[i] && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
      ++end;
      mark(i, end, Kind::literal);
    }
    i = end;
  }
  return kinds;
}

class Rewriter {
 public:
  Rewriter(std::string_view source, std::string_view name) : s_(source), kind_(classify(source)) {
    out_ = "#line 1 \"" + escaped(name) + "\"\n";
  }

  std::string run() {
    std::size_t i = 0;
    while (i < s_.size()) {
      if (code(i) && s_.substr(i, 3) == "<<<" && launch(i)) continue;
      if (code(i) && (i == 0 || !is_word(s_[i - 1])) && (shared(i, "extern") || shared(i, "static") || shared(i, "")))
        continue;
      out_ += s_[i++];
    }
    return out_;
  }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  }

  bool code(std::size_t i) const { return kind_[i] == Kind::code; }
  bool blank(std::size_t i) const { return kind_[i] == Kind::comment || (code(i) && is_space(s_[i])); }

  std::size_t skip_space(std::size_t i) const {
    while (i < s_.size() && blank(i)) ++i;
    return i;
  }

  // True where a word ends at `end` that is a statement's and no scope: else ::k<<<1, 1>>>().
  bool keyword(std::size_t end) const {
    std::size_t i = end;
    while (i > floor_ && end - i < 8 && is_word(s_[i - 1])) --i;
    std::string_view word = s_.substr(i, end - i);
    return word == "else" || word == "do" || word == "return";
  }

  // Start of the kernel's name that ends before `end`: identifiers, ::, and template arguments.
  std::size_t kernel_start(std::size_t end) const {
    std::size_t i = end;
    auto back_space = [&] {
      while (i > floor_ && blank(i - 1)) --i;
    };
    for (;;) {
      back_space();
      if (i > floor_ && s_[i - 1] == '>') {
        int depth = 0;
        while (i > floor_) {
          --i;
          if (!code(i)) continue;
          if (s_[i] == '>') ++depth;
          if (s_[i] == '<' && --depth == 0) break;
        }
        back_space();
      }
      std::size_t before = i;
      while (i > floor_ && code(i - 1) && is_word(s_[i - 1])) --i;
      if (i == before) return end;  // no name: not a launch
      std::size_t name = i;
      back_space();
      if (i >= floor_ + 2 && s_.substr(i - 2, 2) == "::") {
        i -= 2;
        std::size_t scope = i;
        back_space();
        if (i == floor_ || (!is_word(s_[i - 1]) && s_[i - 1] != '>') || keyword(i)) return scope;
        continue;
      }
      return name;
    }
  }

  // The ">>>" that closes the configuration opened before `i`.
  std::size_t closing(std::size_t i) const {
    int depth = 0;
    for (; i + 3 <= s_.size(); ++i) {
      if (!code(i)) continue;
      if (s_[i] == '(' || s_[i] == '[' || s_[i] == '{') ++depth;
      if (s_[i] == ')' || s_[i] == ']' || s_[i] == '}') --depth;
      if (depth < 0 || s_[i] == ';' || s_.substr(i, 3) == "<<<") break;
      if (depth == 0 && s_.substr(i, 3) == ">>>") return i;
    }
    return std::string_view::npos;
  }

  bool launch(std::size_t& i) {
    std::size_t start = kernel_start(i);
    std::size_t close = closing(i + 3);
    floor_ = i + 3;
    if (start == i || close == std::string_view::npos) return false;
    // The name on one line, without comments.
    std::string kernel;
    for (std::size_t k = start; k < i; ++k) {
      if (!blank(k))
        kernel += s_[k];
      else if (kernel.back() != ' ')
        kernel += ' ';
    }
    if (kernel.back() == ' ') kernel.pop_back();
    out_.erase(out_.size() - (i - start));
    newlines(start, i);
    out_ += "::ridge_simt::Launch(\"" + escaped(kernel) + "\", ";
    out_ += s_.substr(i + 3, close - i - 3);
    out_ += ")([=](auto... ridge_arguments) RIDGE_UNCOUNTED { " + kernel + "(ridge_arguments...); })";
    i = floor_ = close + 3;
    return true;
  }

  // `extern __shared__` declares the dynamic array; `static __shared__` would say static twice once expanded; an
  // alignas behind the marker must come first in C++.
  bool shared(std::size_t& i, std::string_view keyword) {
    if (s_.substr(i, keyword.size()) != keyword) return false;
    std::size_t next = keyword.empty() ? i : skip_space(i + keyword.size());
    constexpr std::string_view marker = "__shared__";
    if (s_.substr(next, marker.size()) != marker || (!keyword.empty() && next == i + keyword.size())) return false;
    std::size_t end = next + marker.size();
    if (end < s_.size() && is_word(s_[end])) return false;
    newlines(i, next);
    std::size_t align = skip_space(end);
    if (s_.substr(align, 7) == "alignas") {
      std::size_t close = closing_parenthesis(align + 7);
      if (close != std::string_view::npos) {
        out_ += s_.substr(align, close + 1 - align);
        out_ += ' ';
        newlines(end, align);
        end = close + 1;
      }
    }
    out_ += keyword == "extern" ? "extern __thread" : marker;
    i = floor_ = end;
    return true;
  }

  // Of alignas(...), which may hold further ones: alignas(alignof(float4)).
  std::size_t closing_parenthesis(std::size_t i) const {
    constexpr std::size_t kLongest = 256;
    int depth = 0;
    for (std::size_t end = std::min(s_.size(), i + kLongest); i < end; ++i) {
      if (s_[i] == '(') ++depth;
      if (s_[i] == ')' && --depth <= 0) return i;
    }
    return std::string_view::npos;
  }

  void newlines(std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (s_[from] == '\n') out_ += '\n';
  }

  std::string_view s_;
  std::vector<Kind> kind_;
  std::size_t floor_ = 0;  // what lies before is dealt with: no kernel's name reaches back behind it
  std::string out_;
};

}  // namespace

std::string rewrite_cuda(std::string_view source, std::string_view name) { return Rewriter(source, name).run(); }

}  // namespace ridge::simt
