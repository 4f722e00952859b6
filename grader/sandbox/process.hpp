// Running a program of somebody else: with a time limit, a cap on its output, and nothing inherited.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct Sandbox;

struct ProcessLimits {
  double seconds = 60;
  std::size_t output_bytes = 64 * 1024;        // kept; what follows is dropped
  std::size_t flood_bytes = 64 * 1024 * 1024;  // a program that prints more is stopped
};

struct ProcessResult {
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  bool timed_out = false;
  bool flooded = false;
  bool out_of_memory = false;  // of what its sandbox allows
  bool started = true;
  double seconds = 0;
  std::string output;  // stdout and stderr as they came
};

// Runs argv in `dir`, which takes its temporary files too, to its end; its whole process group is killed at the limit.
// With a sandbox, whose folder and environment count then: anything that reads what a student made.
ProcessResult run_process(const std::vector<std::string>& argv, const fs::path& dir, const ProcessLimits& limits,
                          const Sandbox* sandbox = nullptr);

// The first of `names` that is on PATH, or an empty path. Names with a slash are taken as they are.
fs::path find_program(const std::vector<std::string>& names);

// After fork: a process group of its own that dies with its parent, no core dumps, all descriptors from `first` closed.
void isolate_child(int first_descriptor);

// fork, for a child that isolates itself and ends in end_child.
pid_t fork_child();
// Kills the child and its process group, waits, and returns its status.
int end_child(pid_t pid);
// Waits for the child to end by itself, and returns its status.
int wait_child(pid_t pid);
// Kills all children and lets none start. A program that is ending by a signal calls it.
void end_children();

// Goes on as another program, found on PATH, with no signal blocked. Throws Error where it cannot be started.
[[noreturn]] void become(const std::vector<std::string>& argv);

}  // namespace ridge
