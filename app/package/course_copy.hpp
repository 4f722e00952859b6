// The copy of the course that students get.
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <system_error>

#include "grader/base/paths.hpp"

namespace ridge {

struct CourseCopy {
  std::set<std::string> labs;  // only these labs; empty: all
  bool prebuilt = false;       // leaves out the files that only a build reads
};

// Copies the files that students get into the folder `to`, and returns their number. `ec` says what failed.
std::size_t copy_course(const fs::path& to, const CourseCopy& what, std::error_code& ec);

// Throws a usage error that names `command` if this Ridge is a prebuilt one.
void needs_sources(const char* command);

}  // namespace ridge
