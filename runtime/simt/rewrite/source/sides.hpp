// Calls that cross from one side to the other, which nvcc refuses and a compiler for one processor takes: a kernel
// that calls a plain host function, host code that calls a device function or reads threadIdx, a kernel that is
// called without <<<...>>>.
//
// The text is read without the preprocessor. So a call counts only where all that is called by its name, in all
// files of the program, is of the same side, takes as many arguments, and is written without macros in front.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewrite/text/functions.hpp"

namespace ridge::simt {

struct SideUse {
  std::size_t at = 0;         // in the source
  std::string name;           // what is called or read
  std::size_t arguments = 0;  // of a call
  bool index = false;         // threadIdx and the like
  std::size_t caller = 0;     // among the file's functions
};

// A word in front of a function's name that may be a macro for __device__ or the like.
bool may_hide_qualifier(const std::string& word);

// The uses of one file that may be wrong, by place.
std::vector<SideUse> side_uses(std::string_view s, const std::vector<Kind>& kind, const SourceFunctions& functions);

// All functions of a program's files.
class Sides {
 public:
  void add(const SourceFunctions& functions);
  // Says what is wrong with a use; empty if nothing is. Call it after all files were added.
  std::string message(const SideUse& use, const SourceFunction& caller) const;

 private:
  bool clear(const SourceFunction& f) const;
  // True where `using namespace` brings in functions of files that are not read here: a call may be one of those.
  bool others_in_scope() const;

  std::map<std::string, std::vector<SourceFunction>, std::less<>> named_;
  std::set<std::string> macros_, namespaces_, used_;
  bool readable_ = true;
};

}  // namespace ridge::simt
