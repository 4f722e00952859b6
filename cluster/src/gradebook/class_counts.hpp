// How far each student of a class is: the one place where students are counted, so that status, report, page, summary
// and export say the same.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

enum class StudentState {
  with_grade,
  running,  // in Slurm's queue, or on a node
  waiting,
  not_graded,  // the grading failed or was cancelled, or the hand-in can't be read
  nothing      // was handed in
};
StudentState state_of(const Grade& grade);

// Why a student who handed in has no grade: the problem of the hand-in, or the state of the grading with its reason.
std::string why_no_grade(const Grade& grade);

struct ClassCounts {
  int students = 0, with_grade = 0, running = 0, waiting = 0, not_graded = 0, nothing = 0;
  int without_grade() const { return running + waiting + not_graded; }  // of those who handed in
};
ClassCounts class_counts(const std::vector<Grade>& grades);

// "13 students: 9 with a grade, 1 waiting, 2 not graded, 1 handed nothing in"
std::string counts_text(const ClassCounts& counts);
// The same of Gradebook::totals().
std::string totals_text(const ClassCounts& counts);

}  // namespace ridge::cluster
