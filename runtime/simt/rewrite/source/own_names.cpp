#include "own_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "simt/rewrite/text/policy_words.hpp"

namespace ridge::simt {

namespace {

constexpr std::array<std::string_view, 4> kBuiltIns = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
constexpr std::array<std::string_view, 14> kDeclarators = {"dim3",     "uint3",   "int",     "unsigned", "auto",
                                                           "size_t",   "long",    "const",   "uint",     "int3",
                                                           "uint32_t", "int64_t", "int32_t", "uint64_t"};

struct Name {
  std::size_t at = 0, end = 0;
  std::string_view word;
};

class Names {
 public:
  Names(std::string_view s, const std::vector<Kind>& kind) : s_(s), walk_(s, kind) {
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (!walk_.code(i) || !is_word(s_[i])) continue;
      const std::size_t end = walk_.word_end(i);
      if (const std::string_view word = s_.substr(i, end - i); one_of(word, kBuiltIns)) all_.push_back({i, end, word});
      i = end - 1;
    }
  }

  bool none() const { return all_.empty(); }

  // Those that a function declares itself, as parameters and in its body.
  void of_function(const SourceFunction& f) {
    std::set<std::string_view> own;
    for (const Name& n : all_)
      if (n.at > f.open && n.at < f.end && !member(n) && declared(n, f)) own.insert(n.word);
    rename(f.open, f.end, own);
  }

  // Members that a class declares.
  void of_class(const SourceClass& c) {
    std::set<std::string_view> own;
    for (const Name& n : all_)
      if (n.at > c.open && n.at < c.close && declares_member(n, c)) {
        own.insert(n.word);
        members_.insert(n.word);
      }
    rename(c.open, c.close, own);
  }

  // Uses of members, which may be of another file's class: CUDA's structs have none of the first two names.
  void of_members() {
    for (const Name& n : all_) {
      const bool call = s_[walk_.skip_space(n.end)] == '(';
      if (member(n) && (n.word == "threadIdx" || n.word == "blockIdx" || call)) places_.insert(n.at);
      if (members_.count(n.word) != 0 && (designated(n) || initialised(n))) places_.insert(n.at);
    }
  }

  std::vector<Insertion> insertions() && {
    std::vector<Insertion> all = std::move(functions_);
    for (std::size_t at : places_) all.push_back({at, std::string(kOwnName)});
    std::stable_sort(all.begin(), all.end(), [](const Insertion& a, const Insertion& b) { return a.at < b.at; });
    return all;
  }

 private:
  void rename(std::size_t from, std::size_t to, const std::set<std::string_view>& own) {
    for (const Name& n : all_)
      if (n.at > from && n.at < to && own.count(n.word) != 0 && !member(n)) places_.insert(n.at);
  }

  bool member(const Name& n) const {
    const std::size_t before = walk_.skip_space_back(n.at);
    return before > 1 &&
           (s_[before - 1] == '.' || s_.substr(before - 2, 2) == "->" || s_.substr(before - 2, 2) == "::");
  }

  // {.gridDim = 1}
  bool designated(const Name& n) const {
    std::size_t before = walk_.skip_space_back(n.at);
    if (before < 2 || s_[before - 1] != '.') return false;
    before = walk_.skip_space_back(before - 1);
    return before > 0 && (s_[before - 1] == '{' || s_[before - 1] == ',');
  }

  // Launch::Launch(dim3 grid) : gridDim(grid) {}
  bool initialised(const Name& n) const {
    const std::size_t next = walk_.skip_space(n.end), before = walk_.skip_space_back(n.at);
    if (next >= s_.size() || before < 2 || (s_[next] != '(' && s_[next] != '{')) return false;
    return s_[before - 1] == ',' || (s_[before - 1] == ':' && s_[before - 2] != ':');
  }

  // `dim3 gridDim, blockDim = 64;` in the class itself, not in its functions. A function that reads the
  // member is added behind the declaration.
  bool declares_member(const Name& n, const SourceClass& c) {
    const std::size_t next = walk_.skip_space(n.end), before = walk_.skip_space_back(n.at);
    if (before <= c.open + 1 || (!is_word(s_[before - 1]) && !one_of(s_.substr(before - 1, 1), kInFront))) return false;
    if (!one_of(s_.substr(next, 1), kBehind)) return false;
    std::size_t i = c.open + 1, begin = i;
    while (i < n.at) {
      if (walk_.code(i) && (s_[i] == '{' || s_[i] == '(' || s_[i] == '[')) {
        const std::size_t close = walk_.matching(i);
        if (close == kNoPlace || close > n.at) return false;
        if (s_[i] == '{') begin = close + 1;
        i = close;
      } else if (walk_.code(i) && s_[i] == ';') {
        begin = i + 1;
      }
      ++i;
    }
    begin = walk_.skip_space(begin);
    if (s_.substr(begin, walk_.word_end(begin) - begin) == "using") return false;
    std::size_t end = next;
    while (end < c.close && !(walk_.code(end) && s_[end] == ';')) {
      if (walk_.code(end) && (s_[end] == '{' || s_[end] == '(' || s_[end] == '[')) {
        const std::size_t close = walk_.matching(end);
        if (close == kNoPlace) return false;
        end = close;
      }
      ++end;
    }
    const std::string name = std::string(kOwnName) + std::string(n.word);
    const std::string reader = n.word == "gridDim" ? "ridge_grid_dim" : n.word == "blockDim" ? "ridge_block_dim" : "";
    if (!reader.empty() && s_[next] != '(')
      functions_.push_back({end + 1, " decltype(" + name + ")& " + reader + "() { return " + name +
                                         "; } const decltype(" + name + ")& " + reader + "() const { return " + name +
                                         "; }"});
    return true;
  }

  // Behind a type, or in a list of declarators: dim3 gridDim(1), blockDim(2);
  bool declared(const Name& n, const SourceFunction& f) const {
    std::size_t before = walk_.skip_space_back(n.at);
    while (before > 0 && (s_[before - 1] == '&' || s_[before - 1] == '*')) before = walk_.skip_space_back(before - 1);
    if (one_of(walk_.word_before(before), kDeclarators)) return true;
    if (before == 0 || s_[before - 1] != ',' || before < f.body) return false;
    std::size_t start = before;
    int depth = 0;
    while (start > f.body &&
           !(depth == 0 && walk_.code(start - 1) &&
             (s_[start - 1] == ';' || s_[start - 1] == '{' || s_[start - 1] == '}' || s_[start - 1] == '('))) {
      --start;
      if (!walk_.code(start)) continue;
      if (s_[start] == ')') ++depth;
      if (s_[start] == '(') --depth;
    }
    const std::size_t first = walk_.skip_space(start);
    const std::string_view word = s_.substr(first, walk_.word_end(first) - first);
    return one_of(word, kDeclarators) && s_[start > 0 ? start - 1 : 0] != '(';
  }

  static constexpr std::array<std::string_view, 4> kInFront = {"*", "&", ">", ","};
  static constexpr std::array<std::string_view, 6> kBehind = {";", ",", "=", "[", "{", "("};
  std::string_view s_;
  SourceWalk walk_;
  std::vector<Name> all_;
  std::set<std::size_t> places_;
  std::set<std::string_view> members_;  // that some class of this file declares
  std::vector<Insertion> functions_;
};

}  // namespace

std::vector<Insertion> own_index_names(std::string_view s, const std::vector<Kind>& kind,
                                       const SourceFunctions& functions) {
  if (!functions.readable) return {};
  Names names(s, kind);
  if (names.none()) return {};
  for (const SourceFunction& f : functions.all)
    if (f.defined()) names.of_function(f);
  for (const SourceClass& c : functions.classes) names.of_class(c);
  names.of_members();
  return std::move(names).insertions();
}

}  // namespace ridge::simt
