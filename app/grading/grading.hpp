// Judges a submission as `ridge check` and `ridge grade` do, from the arguments to the stored record.
#pragma once
#include <optional>

#include "app/grading/arguments.hpp"
#include "checks/check.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge {

// True if this machine has a GPU and nvcc.
bool gpu_usable();

// The backend that was asked for, or the one for this lab on this machine. Throws if the lab is not judged on it.
lab::Backend choose_backend(std::optional<lab::Backend> asked, const Lab& lab);

// Judges the submission, prints the report, stores the record, and writes the files that were asked for. Returns the
// exit code; `out`, unless null, receives the result.
int judge_as_asked(const GradeArguments& arguments, lab::Mode mode, Result* out = nullptr);

}  // namespace ridge
