// `ridge` without a command: shows where the student is, and the next step.
#pragma once

namespace ridge::loop {

// Returns the exit code.
int home();

}  // namespace ridge::loop
