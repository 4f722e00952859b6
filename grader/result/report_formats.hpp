// Results for other graders and for CI, by their own formats. Texts are made printable, so that no output of a
// submission can break one of them.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge {

std::string junit_report(const Result& result);         // JUnit XML: one testsuite a task, one testcase a check
std::string gradescope_report(const Result& result);    // results.json
std::string prairielearn_report(const Result& result);  // results.json, at most 1 MB
// The two last lines of stdout: stages for the semantic view, then the scores.
std::string autolab_report(const Result& result);

}  // namespace ridge
