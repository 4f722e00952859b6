// The climb to a solution, told in steps: files of solutions/LAB/steps that each stand in for one file of the solution.
// Their measurements are recorded (schema ridge.steps/1, docs/result-format.md), and tables are made of the records.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge {

struct Step {
  fs::path file;  // below the solution's folder
  std::string replaces, task;
  int number = 0;  // 0: the solution itself, which ends the climb of its task
  std::string idea, needs;
};

// The first line of a step: "// replaces: sgemm.cu; task: sgemm; step: 3; idea: ...; needs: sm_80" (the last where it
// needs a GPU). Throws where it says anything else.
Step parse_step(const std::string& first_line, const fs::path& file);

// Lists the steps of the solution in `dir` by task, each task's solution after its steps. The list may be empty.
std::vector<Step> steps_of(const Lab& lab, const fs::path& dir);

// Whether a step's answers are right, and what of it is recorded. A goal that it misses is no failure.
nlohmann::json step_json(const Step& step, const Task& task, const TaskResult& result);
nlohmann::json skipped_step_json(const Step& step, const Task& task, const std::string& reason);

// The README.md in the solution's folder has one section for each record of a lab's steps.
struct ClimbRecord {
  std::string path;  // from the repository's root
  nlohmann::json json;
};
std::string climb_page(const Lab& lab, const std::vector<ClimbRecord>& records);

}  // namespace ridge
