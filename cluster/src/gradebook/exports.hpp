// Grades as other systems read them, and what an instructor wants to know of a lab.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

struct ExportOptions {
  std::string lab, format;  // canvas, moodle, nbgrader, gradescope, json, csv
  fs::path from;            // canvas, moodle: the LMS's own export, of which one column is filled
  std::string column;       // its name, or a part of it that no other has
  double points = 0;        // of which 100 % are so many; 0: the export's own "Points Possible", else 100
};

// The text to write. A student without a grade keeps what stands there.
std::string exported(Gradebook& book, const ExportOptions& options, std::string& note);

// Distribution, most common failing checks, suspicious results, decisions.
std::string lab_report(Gradebook& book, const std::string& lab);

// What grading the waiting submissions (and `more` others) of a lab will take, from results so far.
std::string estimate(Gradebook& book, const std::string& lab, int more);

}  // namespace ridge::cluster
