// The student's commands: handing work in, and grading it through the queue as practice.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

struct SubmitArguments {
  std::string lab, submission, dropbox;
  bool unchecked = false;
};

// Checks the work here, packs it, and puts it into the course's folder (course.toml's `dropbox`) under the student's
// name. Throws Error.
int submit_work(const SubmitArguments& arguments);

// `ridge grade NN --slurm`: runs `arguments` as one job, waits for it, and returns its exit code. Throws Error.
int grade_through_slurm(const std::string& lab, const std::vector<std::string>& arguments);

}  // namespace ridge::cluster
