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
  lab::Backend backend = lab::Backend::cpu;
  lab::Mode mode = lab::Mode::check;
  std::string task;                   // only this one; empty for all
  bool sanitize = false;              // also looks for races, uninitialised reads and leaks (emulator)
  std::optional<std::uint64_t> seed;  // of a course, for mode grade; else random
  double time_limit = 0;              // seconds that one request to the worker may take; 0 takes the mode's own

  // What the submission is timed against (backend cuda).
  struct Timed {
    Submission reference;                   // takes turns with the submission; empty folder: none
    Calibration machine;                    // the device's ceilings, where they are known
    const BuiltWorker* baseline = nullptr;  // the vendor's way, where it is built already
  } timed;

  // A step of a climb (climb.hpp).
  struct Step {
    std::optional<lab::Mode> sizes;  // the cases of another mode
    bool one_case = false;           // of several measured cases only the one in the middle
  } step;
  lab::Mode sizes() const { return step.sizes.value_or(mode); }

  // Building and judging on two machines (prebuilt.hpp).
  struct Apart {
    fs::path build_into;          // only builds, into this folder
    fs::path prebuilt;            // takes the program of this folder
    bool must_be_signed = false;  // what was built there
  } apart;

  // Labs with several ranks (backend cpu).
  struct Ranks {
    int as_gpus = 0;           // only the cases that so many GPUs are timed on, joined as the device profile says
    Agents* agents = nullptr;  // the nodes of their workers
  } ranks;

  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Builds, runs and scores. Throws Error for wrong usage and for a machine that can't judge; every other outcome, a
// build that failed among them, is in the result.
Result judge(const Lab& lab, const JudgeOptions& options);

// Whether a check may take objects of earlier builds. The judge of the tests, whose defences can be switched off, may
// where RIDGE_REUSE is set: the same source builds with some defences and not with others.
bool may_reuse_objects();

}  // namespace ridge
