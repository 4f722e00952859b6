// Judging as `ridge check` and `ridge grade` do it, from the arguments to the stored record.
#pragma once
#include <string>

#include "app/grading/arguments.hpp"
#include "checks/check.hpp"
#include "grader/base/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge {

// True where this machine has a GPU and an nvcc.
bool gpu_usable();

// The backend of that name ("cpu", "cuda", "auto") for this lab on this machine. Throws where the lab is not judged on
// it.
lab::Backend choose_backend(const std::string& name, const Lab& lab);

// Judges a submission, prints the report, stores the record and writes the files that were asked for. Returns the exit
// code; `out`, where it is not null, receives the result.
int judge_as_asked(const GradeArguments& arguments, lab::Mode mode, Result* out = nullptr);

}  // namespace ridge
