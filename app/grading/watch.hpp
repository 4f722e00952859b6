// Checks again whenever a file is saved, beginning with the task that the file belongs to.
#pragma once
#include <string>

namespace ridge::loop {

struct WatchArguments {
  std::string lab, task, backend = "auto";
  bool once = false;  // ends after the first check that a save brings about: for tests and measurements
};

// Returns the exit code where `once` is set; else it goes on until a signal ends the program.
int watch(const WatchArguments& arguments);

// The exit code of a program that `signal` ends. While a watch is going on, says on stdout that it ended; the code then
// tells whether all tasks pass. Otherwise it is 128 + signal.
int watch_ended(int signal);

}  // namespace ridge::loop
