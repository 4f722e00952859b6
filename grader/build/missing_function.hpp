// Which of a lab's files a function belongs to, and what to say where a submission lacks it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge {

// A function as the linker names it.
struct LinkedFunction {
  explicit LinkedFunction(const std::string& symbol);
  std::string readable;                 // "copy(float const*, int)"
  std::string space, name;              // "" and "copy"
  std::vector<std::string> parameters;  // "float const*", "int"
};

// The functions that a lab's headers declare and its stubs define.
class Contract {
 public:
  Contract() = default;
  explicit Contract(const Lab& lab);
  // The lab's file whose stub defines a function of this name outside of classes; empty if there is none.
  std::string file_of(const std::string& name) const;
  // The message about `symbol`, which should be in `file`. `text`: of that file; `defined`: symbols of its object.
  std::string missing(const std::string& symbol, const std::string& file, const std::string& text,
                      const std::vector<std::string>& defined) const;

 private:
  std::map<std::string, std::string> headers_, stubs_;  // texts by name
};

// Whether the text defines a function of this name.
bool defines(const std::string& text, const std::string& name);

}  // namespace ridge
