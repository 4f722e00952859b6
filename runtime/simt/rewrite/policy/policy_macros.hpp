// Macros of a submission in headers that are not its own. What such a header expands would stand under the header's
// name: with `#define inline` before an #include, a submission could write a part of the C++ library, or of the
// emulator's headers, as it likes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy.hpp"

namespace ridge::simt {

class Macros {
 public:
  Macros(const Trusted& trusted, const ReadFile& read, std::vector<Violation>& found)
      : trusted_(trusted), read_(read), found_(found) {}

  // `text`: "NAME(parameters) body", as -dD has it. `foreign`: it stands in a header that is not the submission's.
  void define(std::string_view text, const std::string& file, int line, bool foreign);
  void undefine(std::string_view text, const std::string& file, int line, bool foreign);
  // Such a header begins.
  void enter(const std::string& file);

 private:
  struct Place {
    std::string file;
    int line;
    std::string name;  // of the submission's macro
  };
  void taint(const std::string& name, const Place& place);
  void refuse(const Place& place, const std::string& header);

  const Trusted& trusted_;
  const ReadFile& read_;
  std::vector<Violation>& found_;
  std::map<std::string, Place, std::less<>> own_;  // macros of the submission, and others whose text names one of these
  std::map<std::string, std::set<std::string>, std::less<>> used_by_;  // name -> macros of headers whose text has it
  std::set<std::string> told_;
};

}  // namespace ridge::simt
