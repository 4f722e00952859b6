// Sections of a lab's README.md, which the program points to.
#pragma once
#include <string>
#include <vector>

#include "grader/base/lab.hpp"

namespace ridge::loop {

struct Section {
  std::string anchor;  // as GitHub makes it of the heading: "task-1-copy"
  std::string heading;
  int line = 0;
};

std::vector<Section> sections_of(const std::string& markdown);

// The section on a goal of a task (empty: on the task): what lab.toml names, else the heading with the task's id. Its
// anchor is empty where there is none.
Section lesson_section(const Lab& lab, const Task& task, const std::string& goal = "");

// "labs/01_coalescing/README.md#task-1-copy".
std::string lesson_link(const Lab& lab, const Task& task, const std::string& goal = "");

}  // namespace ridge::loop
