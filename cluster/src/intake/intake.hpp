// Taking submissions in: folders, archives and git repositories of a roster's students, read as what strangers made.
// What is kept are a lab's source files, once for each content, under the hash that a result names too.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

// A CSV with a column `id` (or an LMS's own export: Canvas, Moodle and nbgrader name theirs otherwise).
std::vector<Student> read_roster(const fs::path& csv);

struct IntakeReport {
  int taken = 0, known = 0, contents = 0;
  std::vector<std::string> problems;  // "NAME: what"
};

// Everything in `dir` is one student's each. Nothing there is changed; taking it in again changes nothing.
IntakeReport take_in(Gradebook& book, const std::string& lab, const fs::path& dir, const std::vector<Student>& roster);

// Where a content's files are.
fs::path content_dir(const Course& course, const std::string& lab, const std::string& content);

}  // namespace ridge::cluster
