#include "aligned_types.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "source_tokens.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

constexpr unsigned kMost = 16;  // bytes of one access

class Reader {
 public:
  explicit Reader(View source) : tokens_(tokens_of(source)) {}

  AlignedLines run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (is(i, "struct") || is(i, "union") || is(i, "class")) definition(i);
    aliases();
    if (types_.empty()) return {};
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (const unsigned bytes = type(i)) declared(i, bytes);
    std::size_t first = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      pointer(i);
      if (is(i, ";") || is(i, "{") || is(i, "}")) {
        statement(first, i);
        first = i + 1;
      }
    }
    return std::move(lines_);
  }

 private:
  bool is(std::size_t i, View text) const { return i < tokens_.size() && tokens_[i].text == text; }
  unsigned type(std::size_t i) const {
    const auto at = types_.find(tokens_[i].text);
    return at == types_.end() ? 0 : at->second;
  }

  // Behind the bracket that closes the one at `i`.
  std::size_t behind(std::size_t i, View open, View close) const {
    for (int depth = 0; i < tokens_.size(); ++i) {
      depth += is(i, open) ? 1 : is(i, close) ? -1 : 0;
      if (depth == 0) return i + 1;
    }
    return i;
  }

  // The alignment that tokens [from, to) ask for; 0: none. An expression stands for the most.
  unsigned alignment(std::size_t from, std::size_t to) const {
    unsigned bytes = 0;
    for (std::size_t i = from; i < to; ++i) {
      if (!is(i, "alignas") && !is(i, "__align__") && !is(i, "aligned")) continue;
      unsigned asked = kMost;
      if (is(i + 1, "(") && is(i + 3, ")")) {
        const View n = tokens_[i + 2].text;
        std::from_chars(n.data(), n.data() + n.size(), asked);
      }
      bytes = std::max(bytes, std::min(asked, kMost));
    }
    return bytes;
  }

  // struct alignas(16) Name {...}, struct Name { float4 v; }, typedef struct __align__(8) {...} Name.
  void definition(std::size_t at) {
    std::size_t open = at + 1;
    View name;
    while (open < tokens_.size() && !is(open, "{") && !is(open, ";") && !is(open, ">")) {
      if (is(open, "(")) {
        open = behind(open, "(", ")");
        continue;
      }
      if (is_name(tokens_[open].text) && !is(open + 1, "(") && !is(open, "final")) name = tokens_[open].text;
      if (is(open, ":")) break;
      ++open;
    }
    while (open < tokens_.size() && !is(open, "{") && !is(open, ";")) ++open;
    if (!is(open, "{")) return;
    const std::size_t end = behind(open, "{", "}");
    unsigned bytes = std::max(alignment(at, open), alignment(end, std::min(end + 6, tokens_.size())));
    for (std::size_t i = open; bytes == 0 && i < end; ++i) {
      if (is(i, "aligned_storage") || is(i, "aligned_storage_t")) bytes = kMost;
      for (View vector : {"float4", "int4", "uint4", "double2", "longlong2", "ulonglong2"})
        if (is(i, vector)) bytes = kMost;
      for (View vector : {"float2", "int2", "uint2"})
        if (is(i, vector)) bytes = kMost / 2;
    }
    if (bytes < 8) return;
    for (std::size_t i = open; i < end; ++i) lines_[tokens_[i].line] = bytes;  // its members' own functions
    if (!name.empty()) types_[name] = bytes;
    for (std::size_t i = end; i < tokens_.size() && !is(i, ";"); ++i)  // typedef struct {...} Name;
      if (is_name(tokens_[i].text) && is(i + 1, ";")) types_[tokens_[i].text] = bytes;
  }

  // using V = Pack<float, 4>; typedef Pack<float, 4> V;
  void aliases() {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      const bool alias = is(i, "using") && is(i + 2, "="), old = is(i, "typedef");
      if (!alias && !old) continue;
      std::size_t end = i;
      unsigned bytes = 0;
      for (; end < tokens_.size() && !is(end, ";"); ++end)
        if (const unsigned known = is(end, "aligned_storage") ? kMost : type(end)) bytes = known;
      if (bytes != 0) types_[alias ? tokens_[i + 1].text : tokens_[end - 1].text] = bytes;
    }
  }

  // Pack* p; Pack& r; Pack a[4]; const Pack<float, 4>* __restrict__ q; auto p = reinterpret_cast<Pack*>(...).
  void declared(std::size_t at, unsigned bytes) {
    std::size_t i = at + 1;
    if (is(i, "<")) i = behind(i, "<", ">");
    bool reached = false;
    for (; i < tokens_.size() && (is(i, "*") || is(i, "&") || is(i, "const") || is(i, "__restrict__")); ++i)
      reached |= is(i, "*") || is(i, "&");
    if (i < tokens_.size() && is_name(tokens_[i].text) && (reached || is(i + 1, "["))) {
      names_[tokens_[i].text] = bytes;
      return;
    }
    for (i = at; i > 2 && !is(i, ";") && !is(i, "{") && !is(i, "}"); --i)
      if (is(i, "=") && is_name(tokens_[i - 1].text)) {
        std::size_t k = i - 2;
        while (k > 0 && (is(k, "*") || is(k, "&") || is(k, "const") || is(k, "__restrict__"))) --k;
        if (is(k, "auto") && !is(i + 1, "*")) names_[tokens_[i - 1].text] = bytes;  // else a value
        return;
      }
  }

  bool qualifies(std::size_t i) const { return is(i, "*") || is(i, "&") || is(i, "const") || is(i, "__restrict__"); }

  // A parameter or variable `T* name` at its last * or &: another function may have given the name to a pointer of
  // another type.
  void pointer(std::size_t at) {
    if (!is(at, "*") && !is(at, "&")) return;
    std::size_t name = at + 1, of = at;
    while (is(name, "const") || is(name, "__restrict__")) ++name;
    if (name + 1 >= tokens_.size() || !is_name(tokens_[name].text)) return;
    if (!is(name + 1, ",") && !is(name + 1, ")") && !is(name + 1, ";") && !is(name + 1, "=")) return;
    while (of > 0 && qualifies(of)) --of;
    if (is(of, ">"))
      for (int depth = 0; of > 0; --of) {
        depth += is(of, ">") ? 1 : is(of, "<") ? -1 : 0;
        if (depth == 0) break;
      }
    if (of > 0 && is(of, "<")) --of;
    if (!is_name(tokens_[of].text) || is(of, "return")) return;
    if (type(of) != 0 || is(of, "auto"))
      hidden_.erase(tokens_[name].text);
    else
      hidden_.insert(tokens_[name].text);
  }

  // Notes the lines of a statement that goes through a pointer to such a type.
  void statement(std::size_t from, std::size_t to) {
    unsigned bytes = 0;
    for (std::size_t i = from; i < to; ++i) {
      const auto at = names_.find(tokens_[i].text);
      if (at != names_.end() && hidden_.count(tokens_[i].text) == 0) bytes = std::max(bytes, at->second);
      const unsigned known = type(i);
      if (known == 0) continue;
      std::size_t next = i + 1;
      if (is(next, "<")) next = behind(next, "<", ">");
      while (is(next, "const")) ++next;
      if (is(next, "*") || is(next, "&")) bytes = std::max(bytes, known);
    }
    for (std::size_t i = from; bytes != 0 && i < to; ++i) lines_[tokens_[i].line] = bytes;
  }

  std::vector<Token> tokens_;
  std::map<View, unsigned> types_;  // by name: alignment
  std::map<View, unsigned> names_;  // pointers, references and arrays of them
  std::set<View> hidden_;           // of these, names that are pointers of another type here
  AlignedLines lines_;
};

}  // namespace

AlignedLines aligned_lines(View source) { return Reader(source).run(); }

}  // namespace ridge::simt
