// Exports of grades to other systems, and estimates.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

struct ExportOptions {
  std::string lab, format;  // blackboard, brightspace, canvas, moodle, sakai, nbgrader, gradescope, json, csv
  fs::path from;            // for the first five, the system's own export, in which one column is filled
  std::string column;       // the column's name, or a unique part of it
  double points = 0;        // points for 100 %; 0 takes the export's "Points Possible", else 100
  bool ignore_unmatched = false;
};

// Throws Error(Exit::environment) where hand-ins of a lab (empty: of all) belong to nobody, since their authors would
// seem to have none.
void require_owners(Gradebook& book, const std::string& lab);

// The exported text. In an LMS's file, students without a grade keep their fields. `note` gets a remark for the user.
std::string exported(Gradebook& book, const ExportOptions& options, std::string& note);

// GPUs that a job of the lab takes; 0 where the emulator grades it.
int gpus_of(const CourseLab& rules, const Lab& lab);

// The estimated hours for grading a lab's waiting submissions and `more` others, from results so far; with `nodes`,
// also how long these take.
std::string estimate(Gradebook& book, const std::string& lab, int more, int nodes);

}  // namespace ridge::cluster
