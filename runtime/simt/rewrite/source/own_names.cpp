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

// The names of one function that it declares itself.
class Names {
 public:
  Names(std::string_view s, const std::vector<Kind>& kind, const SourceFunction& f) : s_(s), walk_(s, kind), f_(f) {}

  void collect(std::vector<std::size_t>& places) {
    std::vector<std::size_t> found;
    std::set<std::string_view> own;
    for (std::size_t i = f_.open; i < f_.end; ++i) {
      if (!walk_.code(i) || !is_word(s_[i])) continue;
      const std::size_t end = walk_.word_end(i);
      const std::string_view word = s_.substr(i, end - i);
      if (one_of(word, kBuiltIns) && !member(i)) {
        found.push_back(i);
        if (declared(i)) own.insert(word);
      }
      i = end - 1;
    }
    for (std::size_t i : found)
      if (own.count(s_.substr(i, walk_.word_end(i) - i)) != 0) places.push_back(i);
  }

 private:
  bool member(std::size_t i) const {
    const std::size_t before = walk_.skip_space_back(i);
    return before > 1 &&
           (s_[before - 1] == '.' || s_.substr(before - 2, 2) == "->" || s_.substr(before - 2, 2) == "::");
  }

  // Behind a type, or in a list of declarators: dim3 gridDim(1), blockDim(2);
  bool declared(std::size_t i) const {
    std::size_t before = walk_.skip_space_back(i);
    while (before > 0 && (s_[before - 1] == '&' || s_[before - 1] == '*')) before = walk_.skip_space_back(before - 1);
    if (one_of(walk_.word_before(before), kDeclarators)) return true;
    if (before == 0 || s_[before - 1] != ',' || before < f_.body) return false;
    std::size_t start = before;
    int depth = 0;
    while (start > f_.body &&
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

  std::string_view s_;
  SourceWalk walk_;
  const SourceFunction& f_;
};

}  // namespace

std::vector<std::size_t> own_index_names(std::string_view s, const std::vector<Kind>& kind,
                                         const SourceFunctions& functions) {
  std::vector<std::size_t> places;
  if (!functions.readable) return places;
  for (const SourceFunction& f : functions.all)
    if (f.defined()) Names(s, kind, f).collect(places);
  return places;
}

}  // namespace ridge::simt
