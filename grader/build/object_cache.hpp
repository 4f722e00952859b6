// Objects of `ridge check`, kept for the next time: a student changes one file of a lab's four. `grade` always
// compiles. The key is all that the compiler sees: the source, every header that is staged beside it, the names of all
// files, the compiler and its flags, this program and the headers of runtime/ that a lab may include.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge {

class ObjectCache {
 public:
  // Serves the files staged in `src`. `compiler` is the compiler's name with its flags.
  ObjectCache(const fs::path& src, const std::string& compiler);
  // Puts the object of a source there. False where it is not known.
  bool fetch(const fs::path& source, const fs::path& object) const;
  // Keeps it; what is there too long goes. Failing to is no error.
  void keep(const fs::path& source, const fs::path& object) const;

 private:
  std::string key_of(const fs::path& source) const;  // empty: not to be kept
  std::string around_;                               // of the key: all but the source
};

}  // namespace ridge
