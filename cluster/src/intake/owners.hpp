// Finds the student to whom a file name belongs.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

struct Owners {
  std::vector<const Student*> students;
  std::string how, why;  // why there is nobody
  std::string file;      // the student's own name of the file, where the entry's name holds it
  std::string group;     // the same for loose files that belong together; empty: the entry stands for itself
  std::string problem;   // why it can't be graded, whatever it holds
  bool late = false;     // the LMS marked it
  bool in_time = false;  // the LMS would have marked it, and did not
  std::optional<std::int64_t> handed_in;  // as the LMS says
};

// "submission_4711" -> who handed it in, and when, of submission_metadata.yml
struct GradescopeEntry {
  std::vector<Student> who;
  std::optional<std::int64_t> when;
};
using Submitters = std::map<std::string, GradescopeEntry>;

Owners owners_of(const std::string& entry, const Lab& lab, const std::vector<Student>& roster,
                 const Submitters& gradescope);

}  // namespace ridge::cluster
