// `ridge` alone: where you are, and the next step.
#pragma once

namespace ridge::loop {

// Returns the exit code.
int home();

}  // namespace ridge::loop
