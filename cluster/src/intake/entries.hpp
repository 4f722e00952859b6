// A folder of hand-ins as instructors have it: one folder, archive or repository per student, what Canvas, Moodle,
// Gradescope and GitHub Classroom give when all is downloaded, or the course's own dropbox.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

// Gradescope's list of submissions and submitters.
constexpr const char* kMetadata = "submission_metadata.yml";

// How an entry's student is known: by the name that `ridge submit` gives it, or by Gradescope's list.
constexpr const char *kByAccount = "by the account", *kByMetadata = "by submission_metadata.yml";

struct EntryPart {
  fs::path path;
  std::string file;  // the name that the student gave it, where the path's name holds more; else empty
  // The student's account that can change it meanwhile, and set its date: one in the dropbox.
  std::optional<unsigned> account = std::nullopt;
};

// One hand-in. Loose files of one student are parts of one.
struct Entry {
  std::string name;                       // printable; of the first part
  std::vector<EntryPart> parts;           // sorted by name
  std::vector<const Student*> students;   // several for a group's work; none: `why` tells
  std::string how, why, note, problem;    // how: "by the id", "by Canvas's user id"; problem: whatever it holds
  std::optional<std::int64_t> handed_in;  // as the LMS says
  bool late = false, in_time = false;     // the LMS marked it as late, or would have
};

// Throws Error(Exit::usage) where the folder is missing, or a metadata file of Gradescope's cannot be read.
std::vector<Entry> entries_of(const fs::path& dir, const Lab& lab, const std::vector<Student>& roster);

// The lab's file that a name means: itself in any case, with the ending that Windows editors add ("copy.cu.txt"), or
// with what browsers and Canvas add to a second copy ("copy-1.cu", "copy (1).cu"), whose number is `copy`. Empty where
// it is none.
std::string lab_file(const std::string& name, const Lab& lab, int& copy);

}  // namespace ridge::cluster
