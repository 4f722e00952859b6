// Asks for predictions before a task runs for the first time.
#pragma once
#include <string>

#include "checks/check.hpp"
#include "grader/lab/lab.hpp"

namespace ridge {

// Whether somebody sits at the terminal: stdin and stdout are one, and this is no CI job.
bool somebody_answers();

// Asks on the terminal for what `loop::to_ask` names, and keeps the answers in the journal. Enter skips a question, and
// "s" or the input's end the rest.
void ask_predictions(const Lab& lab, const std::string& task, lab::Backend backend);

}  // namespace ridge
