// Fills one column of a gradebook that a learning management system exported, and keeps all else byte for byte.
#pragma once
#include <string>
#include <vector>

#include "cluster/src/gradebook/exports.hpp"

namespace ridge::cluster {

// Whether grades for this system are filled into its own file.
bool is_filled(const std::string& format);

// Rows are matched by any column that identifies students. `note` gets the number of rows. Throws Error(Exit::usage).
std::string filled(const std::vector<Grade>& grades, const ExportOptions& options, std::string& note);

}  // namespace ridge::cluster
