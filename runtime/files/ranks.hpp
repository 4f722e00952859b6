// Ranks that die, for a lab's entry.cu: it plays several ranks in one process, one after another or as its own loop
// wants, and the judge's plan says when one of them dies: in a given change of a file, or at a given step.
#pragma once
#include "files.hpp"

namespace files {

// Runs `body` as rank `rank` and returns true, or false where the rank died in one of its calls of files: `body` stops
// there for good, as a process does under kill -9; no destructor and no handler runs. What it wrote is as the crash
// left it, and its later calls fail the same way until the judge lets the rank start again.
template <class Body>
bool lives_through(int rank, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  return ridge_files_lives(
      rank, [](void* b) { (*static_cast<Plain*>(b))(); }, const_cast<std::remove_const_t<Plain>*>(&body));
}

// A note to the judge, whose meaning is the lab's (FileSystem::on_mark). Returns the judge's answer.
inline long long mark(long long number, long long value = 0) { return ridge_files_mark(number, value); }

}  // namespace files
