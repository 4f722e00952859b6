// Checks again whenever a file is saved, beginning with the task that the file belongs to.
#pragma once
#include <optional>
#include <string>

#include "checks/check.hpp"

namespace ridge::loop {

struct WatchArguments {
  std::string lab, task;
  std::optional<lab::Backend> backend;  // none: chosen for the lab and the machine
  bool once = false;                    // ends after the first check that a save starts: for tests and measurements
};

// With `once`, returns the exit code; otherwise it goes on until a signal ends the program.
int watch(const WatchArguments& arguments);

// Returns the exit code of a program that `signal` ends: 128 + signal. During a watch, it prints the number of checks
// and returns 0 if all tasks passed, else 1.
int watch_ended(int signal);

}  // namespace ridge::loop
