// The sections of a lab's README.md, to which the program points.
#pragma once
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge::loop {

struct Section {
  std::string anchor;  // GitHub's anchor of the heading, "task-1-copy"
  std::string heading;
  int line = 0;
};

std::vector<Section> sections_of(const std::string& markdown);

// The section on a goal of a task; an empty goal asks for the section on the task. It is the one that lab.toml names,
// else the one with the task's id in its heading. Its anchor is empty if there is none.
Section lesson_section(const Lab& lab, const Task& task, const std::string& goal = "");

// The section as a link, "labs/01_coalescing/README.md#task-1-copy".
std::string lesson_link(const Lab& lab, const Task& task, const std::string& goal = "");

}  // namespace ridge::loop
