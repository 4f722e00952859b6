// Starts a program with pipes to it and from it.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace ridge::net {

struct Child {
  pid_t pid = -1;  // -1: it could not be started. Ends by end_child of grader/sandbox/process.hpp
  int in = -1;     // to its stdin; -1: it reads /dev/null
  int out = -1, err = -1;
};

// The program dies with the thread that started it, by `signal`.
Child start_child(const std::vector<std::string>& argv, bool with_input, int signal);

// Kills the program and its group, without waiting: one with much memory, or one that waits for a file server, takes
// its time to die.
void kill_child(pid_t pid);

// It has ended, and end_child returns at once.
bool has_ended(pid_t pid);

}  // namespace ridge::net
