// The table of students on the instructor's page, which a small script sorts.
#pragma once
#include <string>

#include "cluster/src/pages/class_data.hpp"

namespace ridge::cluster {

std::string students_table(const ClassData& data);

// Makes a button of each head of a table with the class `sortable`. Without it the table is as it was written.
extern const char* const kSortScript;

// A table in a box that scrolls sideways, by the keyboard too.
std::string scrolled(const std::string& name, const std::string& table);

}  // namespace ridge::cluster
