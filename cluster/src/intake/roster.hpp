// The class: a CSV of the instructor's, or what Canvas, Moodle, nbgrader or GitHub Classroom exports. Several files
// together tell how each system names a student.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

// Reads one CSV. Throws Error(Exit::usage).
std::vector<Student> read_roster(const fs::path& csv);

// Reads all; rows of different files with one id or e-mail address are one student. Throws Error(Exit::usage).
std::vector<Student> read_rosters(const std::vector<std::string>& files);

// Whether two rows of different files are one student: by an id, a login or the e-mail address.
bool same_student(const Student& a, const Student& b);

// The letters and digits of a name, in lower case and of any script, as LMSs write names into file names.
std::string folded_name(const std::string& name);
// Whether `folded` is the student's name, whichever part of it comes first.
bool has_name(const Student& student, const std::string& folded);
// Whether a word of the student's name is a part of `folded`.
bool has_word_of(const Student& student, const std::string& folded);

}  // namespace ridge::cluster
