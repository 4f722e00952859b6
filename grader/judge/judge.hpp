// Judges one submission of one lab: correctness first, then performance.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ceilings/calibration.hpp"
#include "checks/check.hpp"
#include "grader/base/lab.hpp"
#include "grader/build/build.hpp"
#include "grader/result/result.hpp"

namespace ridge {

class Agents;

struct JudgeOptions {
  Submission submission;
  Submission reference;  // backend cuda: timed beside the submission, for comparison; empty folder: none
  lab::Backend backend = lab::Backend::cpu;
  lab::Mode mode = lab::Mode::check;
  std::string task;                   // only this one; empty for all
  bool sanitize = false;              // also looks for races, uninitialised reads and leaks (emulator)
  Calibration machine;                // of the device, where it is known (backend cuda)
  std::optional<std::uint64_t> seed;  // of a course, for mode grade; else random
  double time_limit = 0;              // seconds that one request to the worker may take; 0 takes the mode's own
  // A step of a climb (climb.hpp): the cases of another mode, of several measured ones only that in the middle, and the
  // vendor's way where it is built already (backend cuda).
  std::optional<lab::Mode> sizes;
  bool one_case = false;
  const BuiltWorker* baseline = nullptr;
  int as_gpus = 0;  // backend cpu: only the cases that so many GPUs are timed on, joined as the device profile says
  // Building and judging apart (prebuilt.hpp): only builds, into this folder; takes what was built there.
  fs::path build_into, built;
  bool must_be_signed = false;  // what was built
  Agents* agents = nullptr;     // of labs with several ranks, on the emulator: their workers' nodes
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Builds, runs and scores. Throws Error for wrong usage and for a machine that can't judge; every other outcome, a
// build that failed among them, is in the result.
Result judge(const Lab& lab, const JudgeOptions& options);

// Whether a check may take objects of earlier builds. The judge of the tests, whose defences can be switched off, may
// where RIDGE_REUSE is set: the same source builds with some defences and not with others.
bool may_reuse_objects();

}  // namespace ridge
