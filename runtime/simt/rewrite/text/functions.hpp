// The functions that a CUDA source declares or defines, as far as its text shows them without the preprocessor.
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lexer.hpp"

namespace ridge::simt {

struct SourceFunction {
  std::string name;
  std::size_t begin = 0;                              // of the declaration
  std::size_t at = 0;                                 // of the name
  std::size_t open = 0, close = 0;                    // parentheses of the parameters
  std::size_t body = 0, end = 0;                      // braces of the body; both 0 for a declaration
  bool global = false, device = false, host = false;  // __global__, __device__, __host__
  bool member = false;                                // of a class, or with a qualified name
  bool unclear = false;                               // constexpr, or something in front that may hide a qualifier
  std::vector<std::string> words;                     // in front of the name, for the caller to look for macros
  std::size_t required = 0, parameters = 0;

  bool defined() const { return end > body; }
  bool inside(std::size_t i) const { return defined() && i > body && i < end; }
  bool for_device_alone() const { return (global || device) && !host; }
};

// The body of an operator or a constructor.
struct SourceBody {
  std::size_t open = 0, close = 0;
  bool for_device_alone = false;
};

// Braces of a class's body.
struct SourceClass {
  std::size_t open = 0, close = 0;
};

struct SourceFunctions {
  std::vector<SourceFunction> all;
  std::vector<SourceBody> others;
  std::vector<SourceClass> classes;  // those outside of functions; a nested one comes before the one around it
  std::set<std::string> macros;
  std::set<std::string> namespaces, used_namespaces;  // defined here; named by `using namespace`, outside of functions
  bool readable = true;                               // false where braces do not match: nothing is known then

  // The function whose body holds `i`, or null.
  const SourceFunction* around(std::size_t i) const;
  // The same for operators and constructors.
  const SourceBody* other_around(std::size_t i) const;
};

constexpr std::size_t kNoPlace = std::string_view::npos;

// Ways through a source: `kind` is classify(s), with the lines of directives marked as comments.
class SourceWalk {
 public:
  SourceWalk(std::string_view s, const std::vector<Kind>& kind) : s_(s), kind_(kind) {}
  bool code(std::size_t i) const { return kind_[i] == Kind::code; }
  std::size_t skip_space(std::size_t i) const;
  std::size_t skip_space_back(std::size_t i) const;  // behind the last byte of code before `i`
  std::size_t word_end(std::size_t i) const;
  std::string_view word_before(std::size_t end) const;
  // The bracket that closes the one at `open`, among so many bytes.
  std::size_t matching(std::size_t open, std::size_t bytes = kNoPlace) const;
  // Behind <...> at `i`, where it is a list of template arguments; else `i`.
  std::size_t behind_angles(std::size_t i) const;
  // Parts between commas of the parentheses at `open`: of parameters, or of arguments.
  std::vector<std::string_view> parts(std::size_t open, std::size_t close) const;

 private:
  std::string_view s_;
  const std::vector<Kind>& kind_;
};

// Marks directives, and the text of #if 0 and #ifndef __CUDACC__, as comments.
std::vector<Kind> without_directives(std::string_view s, std::vector<Kind> kind, std::set<std::string>* macros);
SourceFunctions functions_of(std::string_view s, const std::vector<Kind>& kind);

}  // namespace ridge::simt
