// Steps that several commands share: make a lab's checks, collect until all is graded, name who decides.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

std::string user_name();
// Jobs build nothing, so the lab's checks must be there before.
void make_checks(const Course& course, const std::string& lab);
// Returns the command's exit code. `lab` empty: all of the course. `detach`: only submits.
int collect_to_the_end(Gradebook& book, const std::string& lab, bool detach);

}  // namespace ridge::cluster
