// Finds the student to whom a file name belongs.
#pragma once
#include <map>
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
  bool late = false;     // the LMS marked it
};

// "submission_4711" -> who handed it in, of submission_metadata.yml
using Submitters = std::map<std::string, std::vector<Student>>;

Owners owners_of(const std::string& entry, const Lab& lab, const std::vector<Student>& roster,
                 const Submitters& gradescope);

}  // namespace ridge::cluster
