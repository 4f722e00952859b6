// The instructor's page of a lab, in one file.
#pragma once
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

// It names students, their grades and the reasons of decisions, and is for the instructor alone.
std::string class_page(Gradebook& book, const std::string& lab);

}  // namespace ridge::cluster
