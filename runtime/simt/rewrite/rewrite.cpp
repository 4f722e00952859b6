#include "rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ridge::simt {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Marks the bytes that are code: not inside a comment, a string or a character literal.
std::vector<bool> code_mask(std::string_view s) {
  std::vector<bool> code(s.size(), true);
  auto hide = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, s.size()); ++i) code[i] = false;
  };
  std::size_t i = 0;
  while (i < s.size()) {
    std::size_t end = i + 1;
    if (s.substr(i, 2) == "//") {
      end = i;
      while (end < s.size() && (s[end] != '\n' || s[end - 1] == '\\')) ++end;
      hide(i, end);
    } else if (s.substr(i, 2) == "/*") {
      end = s.find("*/", i + 2);
      end = end == std::string_view::npos ? s.size() : end + 2;
      hide(i, end);
    } else if (s.substr(i, 2) == "R\"" && (i == 0 || !is_word(s[i - 1]))) {
      std::size_t open = s.find('(', i);
      if (open == std::string_view::npos) break;
      std::string close = ")" + std::string(s.substr(i + 2, open - i - 2)) + "\"";
      end = s.find(close, open);
      end = end == std::string_view::npos ? s.size() : end + close.size();
      hide(i, end);
    } else if (s[i] == '"' || (s[i] == '\'' && (i == 0 || !is_word(s[i - 1])))) {
      while (end < s.size() && s[end] != s[i] && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
      ++end;
      hide(i, end);
    }
    i = end;
  }
  return code;
}

class Rewriter {
 public:
  Rewriter(std::string_view source, std::string_view name) : s_(source), code_(code_mask(source)) {
    out_ = "#line 1 \"" + escaped(name) + "\"\n";
  }

  std::string run() {
    std::size_t i = 0;
    while (i < s_.size()) {
      if (code_[i] && s_.substr(i, 3) == "<<<" && launch(i)) continue;
      if (code_[i] && (i == 0 || !is_word(s_[i - 1])) && (shared(i, "extern") || shared(i, "static") || shared(i, "")))
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

  std::size_t skip_space(std::size_t i) const {
    while (i < s_.size() && (is_space(s_[i]) || !code_[i])) ++i;
    return i;
  }

  // Start of the kernel's name that ends before `end`: identifiers, ::, and template arguments.
  std::size_t kernel_start(std::size_t end) const {
    std::size_t i = end;
    auto back_space = [&] {
      while (i > 0 && (is_space(s_[i - 1]) || !code_[i - 1])) --i;
    };
    for (;;) {
      back_space();
      if (i > 0 && s_[i - 1] == '>') {
        int depth = 0;
        while (i > 0) {
          --i;
          if (!code_[i]) continue;
          if (s_[i] == '>') ++depth;
          if (s_[i] == '<' && --depth == 0) break;
        }
        back_space();
      }
      std::size_t before = i;
      while (i > 0 && code_[i - 1] && is_word(s_[i - 1])) --i;
      if (i == before) return end;  // no name: not a launch
      std::size_t name = i;
      back_space();
      if (i >= 2 && s_.substr(i - 2, 2) == "::") {
        i -= 2;
        std::size_t scope = i;
        back_space();
        if (i == 0 || (!is_word(s_[i - 1]) && s_[i - 1] != '>')) return scope;
        continue;
      }
      return name;
    }
  }

  // The ">>>" that closes the configuration opened before `i`.
  std::size_t closing(std::size_t i) const {
    int depth = 0;
    for (; i + 3 <= s_.size(); ++i) {
      if (!code_[i]) continue;
      if (s_[i] == '(' || s_[i] == '[' || s_[i] == '{') ++depth;
      if (s_[i] == ')' || s_[i] == ']' || s_[i] == '}') --depth;
      if (depth < 0 || s_[i] == ';') break;
      if (depth == 0 && s_.substr(i, 3) == ">>>") return i;
    }
    return std::string_view::npos;
  }

  bool launch(std::size_t& i) {
    std::size_t start = kernel_start(i);
    std::size_t close = closing(i + 3);
    if (start == i || close == std::string_view::npos) return false;
    std::string kernel(s_.substr(start, i - start));
    auto lines = std::count(kernel.begin(), kernel.end(), '\n');
    std::replace(kernel.begin(), kernel.end(), '\n', ' ');
    while (is_space(kernel.back())) kernel.pop_back();
    out_.erase(out_.size() - (i - start));
    out_.append(static_cast<std::size_t>(lines), '\n');
    out_ += "::ridge_simt::Launch(\"" + escaped(kernel) + "\", ";
    out_ += s_.substr(i + 3, close - i - 3);
    out_ += ").kernel([=](auto... ridge_arguments) { " + kernel + "(ridge_arguments...); })";
    i = close + 3;
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
      std::size_t close = s_.find(')', align);
      if (close != std::string_view::npos) {
        out_ += s_.substr(align, close + 1 - align);
        out_ += ' ';
        newlines(end, align);
        end = close + 1;
      }
    }
    out_ += keyword == "extern" ? "extern __thread" : marker;
    i = end;
    return true;
  }

  void newlines(std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (s_[from] == '\n') out_ += '\n';
  }

  std::string_view s_;
  std::vector<bool> code_;
  std::string out_;
};

}  // namespace

std::string rewrite_cuda(std::string_view source, std::string_view name) { return Rewriter(source, name).run(); }

}  // namespace ridge::simt
