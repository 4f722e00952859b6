// Builds a worker program from a submission.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/lab/lab.hpp"

namespace ridge {

struct BuiltWorker {
  fs::path program;
  std::string compiler;  // name and version
  std::string flags;
  double seconds = 0;
  std::string warnings;
  std::string sha256;  // of the program, where another machine built it (prebuilt.hpp)
  // A file that a stub stands in for: why ("does not compile", "cannot be linked"), the messages, and the hash of what
  // was handed in.
  struct Unbuilt {
    std::string name, why, messages, sha256;
  };
  std::vector<Unbuilt> unbuilt;
};

// A submission: a folder with the lab's files. `overrides` replaces single files (a wrong/ solution over the
// reference).
struct Submission {
  fs::path dir;
  std::vector<fs::path> overrides;  // path and, in `override_names`, the file it stands for
  std::vector<std::string> override_names;
  // The file of the only task that is judged: stubs stand in for others that don't compile. Empty: all are needed.
  std::string needed = {};
  // Stubs stand in for files that don't compile or don't fit (BuiltWorker::unbuilt), unless none of the lab's does.
  bool partial = false;
  bool reversed = false;  // the order in which objects are linked
  bool reuse = false;     // objects of earlier builds, where nothing that they come from has changed
  std::function<void(const std::string&)> note = [](const std::string&) {};  // what the student should know besides
};

// Copies the submission's sources into `dir`, and the lab's contract and entry over them. Throws as build_worker does.
void stage(const Lab& lab, const Submission& submission, const fs::path& dir);

// Copies and compiles the submission with the lab's contract and entry, into `dir`. Throws Error(Exit::build) with the
// compiler's messages at the student's own lines, Error(Exit::usage) where a file is missing.
BuiltWorker build_worker(const Lab& lab, const Submission& submission, lab::Backend backend, const fs::path& dir);
// Builds a staged submission (`staged`: its folder) once more, into `dir`, with its objects linked in reverse order.
BuiltWorker build_elsewhere(const Lab& lab, const fs::path& staged, const fs::path& dir);
// The baseline for the same contract; `cuda` only.
BuiltWorker build_baseline(const Lab& lab, const fs::path& dir);

}  // namespace ridge
