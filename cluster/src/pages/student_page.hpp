// The page with which a student gets a lab back: the grade and how it came about, then what the judge said.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/pages/hand_ins.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

struct Feedback {
  Grade grade;
  std::optional<Result> result;                // as for_student leaves it
  std::vector<HandIn> hand_ins;                // oldest first
  std::map<std::string, std::string> sources;  // the files that were judged, by name
};

Feedback feedback_of(Gradebook& book, const Grade& grade);

// A few sentences on the grade: points, lateness, an extended deadline, why there is none. They give no reason of a
// decision.
std::vector<std::string> grade_notes(Gradebook& book, const Feedback& feedback);

std::string student_page(Gradebook& book, const Lab& lab, const Feedback& feedback);
// The same as plain text.
std::string student_text(Gradebook& book, const Lab& lab, const Feedback& feedback);

}  // namespace ridge::cluster
