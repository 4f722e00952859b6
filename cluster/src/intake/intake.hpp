// Takes in submissions: folders, archives and git repositories of the roster's students, none of which is trusted. A
// lab's source files are kept once for each content, under the hash that results name too.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

// Reads a CSV with a column `id`, or the export of Canvas, Moodle or nbgrader with its own column names. Throws
// Error(Exit::usage).
std::vector<Student> read_roster(const fs::path& csv);

struct IntakeReport {
  int taken = 0, known = 0, contents = 0;
  std::vector<std::string> problems;  // "NAME: problem"
};

// Takes in `dir`, in which each entry belongs to one student. The folder stays unchanged, and taking it in twice has no
// further effect.
IntakeReport take_in(Gradebook& book, const std::string& lab, const fs::path& dir, const std::vector<Student>& roster);

// The folder of a content's files.
fs::path content_dir(const Course& course, const std::string& lab, const std::string& content);

}  // namespace ridge::cluster
