// Exports of grades to other systems, and reports on a lab for the instructor.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

struct ExportOptions {
  std::string lab, format;  // canvas, moodle, nbgrader, gradescope, json, csv
  fs::path from;            // for canvas and moodle, the LMS's own export, in which one column is filled
  std::string column;       // the column's name, or a unique part of it
  double points = 0;        // points for 100 %; 0 takes the export's "Points Possible", else 100
  bool ignore_unmatched = false;
};

// Throws Error(Exit::environment) where hand-ins of a lab (empty: of all) belong to nobody, since their authors would
// seem to have none.
void require_owners(Gradebook& book, const std::string& lab);

// The exported text. In an LMS's file, students without a grade keep their fields. `note` gets a remark for the user.
std::string exported(Gradebook& book, const ExportOptions& options, std::string& note);

// How many results that count were judged by another version of the lab than this one, or for other points.
int outdated_results(Gradebook& book, const std::string& lab);

// The distribution of grades, the most common failing checks, suspicious results, and decisions.
std::string lab_report(Gradebook& book, const std::string& lab);

// The estimated hours for grading a lab's waiting submissions and `more` others, from results so far.
std::string estimate(Gradebook& book, const std::string& lab, int more);

}  // namespace ridge::cluster
