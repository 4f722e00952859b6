#include "vector_members.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "source_tokens.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

// Bytes of a member of the vector types of 8 and 16 bytes; 0: none of them.
unsigned member_bytes(View type) {
  if (type.size() < 2) return 0;
  const char n = type.back();
  const View base = type.substr(0, type.size() - 1);
  if ((n == '2' || n == '4') && (base == "float" || base == "int" || base == "uint")) return 4;
  if (n == '2' && (base == "double" || base == "longlong" || base == "ulonglong")) return 8;
  return 0;
}

class Reader {
 public:
  explicit Reader(View source) : tokens_(tokens_of(source)) {}

  VectorMembers run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (const unsigned bytes = member_bytes(tokens_[i].text)) declared(i, bytes);
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i)
      if (is(i, ".") || is(i, "->")) member(i);
    return std::move(found_);
  }

 private:
  bool is(std::size_t i, View text) const { return i < tokens_.size() && tokens_[i].text == text; }

  // A type's name: which variables get it?
  void declared(std::size_t type, unsigned bytes) {
    std::size_t i = type + 1;
    static const std::set<View> kBetween = {"*", "&", "const", "__restrict__", "restrict", "volatile"};
    while (i < tokens_.size() && kBetween.count(tokens_[i].text) != 0) ++i;
    if (i < tokens_.size() && is_name(tokens_[i].text) && !is(i + 1, "(")) {
      for (; i < tokens_.size() && is_name(tokens_[i].text); ++i) {  // float4 a, *b[2];
        names_[tokens_[i].text] = bytes;
        while (i < tokens_.size() && !is(i, ",") && !is(i, ";") && !is(i, ")") && !is(i, "=") && !is(i, "{")) ++i;
        if (!is(i, ",")) return;
        while (is(i + 1, "*") || is(i + 1, "&")) ++i;
        if (i + 2 < tokens_.size() && is_name(tokens_[i + 2].text)) return;  // the next parameter
      }
      return;
    }
    // auto name = ... the type ...;
    for (i = type; i > 2 && !is(i, ";") && !is(i, "{") && !is(i, "}"); --i)
      if (is(i, "=") && is_name(tokens_[i - 1].text)) {
        std::size_t k = i - 2;
        while (k > 0 && (is(k, "*") || is(k, "&") || is(k, "const") || is(k, "__restrict__"))) --k;
        if (is(k, "auto")) names_[tokens_[i - 1].text] = bytes;
        return;
      }
  }

  // The token before which an expression such as a, a[i] or f<T>(x)[i] begins that ends before `at`.
  void member(std::size_t at) {
    if (at + 1 >= tokens_.size() || tokens_[at + 1].text.size() != 1) return;
    const std::size_t index = View("xyzw").find(tokens_[at + 1].text);
    if (index == View::npos || is(at + 2, "(")) return;
    const unsigned bytes = of_expression(at);
    if (bytes == 0 || (index > 1 && bytes == 8)) return;
    const VectorMember m{static_cast<unsigned>(index), bytes};
    found_[{tokens_[at].line, tokens_[at].column}] = m;
    found_[{tokens_[at + 1].line, tokens_[at + 1].column}] = m;
  }

  // Member bytes of the expression that ends before token `end`; 0 where it is no vector that is known.
  unsigned of_expression(std::size_t end) const {
    unsigned cast = 0;
    std::size_t i = end;
    while (i > 0) {
      --i;
      if (is(i, "]") || is(i, ")")) {
        const View close = tokens_[i].text, open = close == "]" ? "[" : "(";
        for (int depth = 0;; --i) {
          depth += tokens_[i].text == close ? 1 : tokens_[i].text == open ? -1 : 0;
          if (close == ")" && member_bytes(tokens_[i].text) != 0) cast = member_bytes(tokens_[i].text);
          if (depth == 0) break;
          if (i == 0) return 0;
        }
        continue;
      }
      if (is(i, ">")) {  // reinterpret_cast<const float4*>
        for (; i > 0 && !is(i, "<"); --i)
          if (member_bytes(tokens_[i].text) != 0) cast = member_bytes(tokens_[i].text);
        continue;
      }
      if (!is_name(tokens_[i].text)) return cast;
      const auto known = names_.find(tokens_[i].text);
      if (known != names_.end()) return known->second;
      return tokens_[i].text == "reinterpret_cast" || tokens_[i].text == "static_cast" ? cast : 0;
    }
    return cast;
  }

  std::vector<Token> tokens_;
  std::map<View, unsigned> names_;  // variables of a vector type: bytes of a member
  VectorMembers found_;
};

}  // namespace

VectorMembers vector_members(View source) { return Reader(source).run(); }

}  // namespace ridge::simt
