// Takes in submissions: folders, archives and git repositories of the roster's students, none of which is trusted. A
// lab's source files are kept once for each content, under the hash that results name too.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "cluster/src/intake/roster.hpp"

namespace ridge::cluster {

struct IntakeReport {
  int taken = 0, known = 0, contents = 0;
  struct Match {
    std::string entry, student, name, how;
    std::string problem, note;  // problem: it can't be graded
  };
  std::vector<Match> matches;
  std::vector<std::pair<std::string, std::string>> misses;  // entry, why nobody has it
  std::vector<std::string> without;                         // ids of students who have no entry
  std::set<std::string> unproven;                           // ids whose entries no account proves
  std::string dates;                                        // why the dates of all are wrong; only of a dry run
};

struct IntakeOptions {
  bool dry = false;                       // only the report is made, and nothing is kept
  std::optional<std::int64_t> handed_in;  // the date of entries of which only the files' dates tell
};

// Takes in `dir`, in which each entry belongs to one student, or to a group. The folder stays unchanged, and taking it
// in twice has no further effect. Throws Error(Exit::usage) where all files have the late date of a copy.
IntakeReport take_in(Gradebook& book, const std::string& lab, const fs::path& dir, const std::vector<Student>& roster,
                     const IntakeOptions& options);

// The report, one line for each entry with a problem or a note, or for each entry where `all`.
std::string intake_text(const IntakeReport& report, bool all);

// Begins the problem of a hand-in above the limit of its day.
constexpr const char* kOneTooMany = "is hand-in ";

// Begins the name of a folder beside the contents in which a hand-in is prepared. One that a killed intake left is
// deleted by `ridge cluster forget`.
constexpr const char* kStaging = ".staging-";

// The folder of a content's files.
fs::path content_dir(const Course& course, const std::string& lab, const std::string& content);

}  // namespace ridge::cluster
