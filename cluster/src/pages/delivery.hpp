// Hands feedback out: a folder for each student, and the files that LMSs take.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

struct DeliveryOptions {
  std::string lab;
  std::string format;  // moodle, canvas, gradescope; csv: none of them
  fs::path from;       // Moodle's grading worksheet, for participants' numbers
  fs::path dir;        // is made, for this account alone; must be new or empty
  double points = 0;   // Gradescope: points for 100 %; 0 takes the lab's
  bool ignore_unmatched = false;
};

// DIR/students/ID/feedback.html and result.json of each student who handed something in or has a grade; the folder is
// there whole or not at all. Returns a remark for the user. Throws Error.
std::string deliver_feedback(Gradebook& book, const DeliveryOptions& options);

}  // namespace ridge::cluster
