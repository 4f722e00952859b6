// Judges one submission of one lab: correctness first, then performance.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ceilings/calibration.hpp"
#include "checks/check.hpp"
#include "grader/build/build.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge {

class Agents;

struct JudgeOptions {
  Submission submission;
  lab::Backend backend = lab::Backend::cpu;
  lab::Mode mode = lab::Mode::check;
  std::string task;                   // only this one; empty for all
  bool sanitize = false;              // also looks for races, uninitialised reads and leaks (emulator)
  std::optional<std::uint64_t> seed;  // mode grade: the course's seed; none: a random one
  double time_limit = 0;              // seconds that one request to the worker may take; 0 takes the mode's own

  // The programs and ceilings that the submission is timed against (backend cuda).
  struct Timed {
    Submission reference;                   // takes turns with the submission; empty folder: none
    Calibration machine;                    // the device's ceilings, where they are known
    const BuiltWorker* baseline = nullptr;  // the baseline's worker, if it is already built
    bool narrow = false;                    // turns go on until the interval is narrow, though the points are certain
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
    bool must_be_signed = false;  // the program must carry the course's signature
  } apart;

  // Labs with several ranks (backend cpu).
  struct Ranks {
    int as_gpus = 0;           // only the cases timed on that many GPUs, with the device profile's links; 0: all
    Agents* agents = nullptr;  // run the ranks' workers on the nodes of a job; null: all run here
  } ranks;

  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Builds, runs and scores. Throws Error for wrong usage and for a machine that can't judge; every other outcome, a
// build that failed among them, is in the result.
Result judge(const Lab& lab, const JudgeOptions& options);

// Whether a check may reuse objects of earlier builds. The tests' judge, whose defences can be switched off, may do so
// only if RIDGE_REUSE is set: whether a source builds depends on the defences.
bool may_reuse_objects();

}  // namespace ridge
