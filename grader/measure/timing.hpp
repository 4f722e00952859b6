// Performance on GPUs, one for each rank: the submission takes turns with the baseline, on the judge's clock.
//
// A turn is one request: a number of calls that the submission cannot know beforehand, each on inputs and outputs of
// its own that are new for the turn, so that nothing can be kept from one call to the next, left out or put off. Then
// the others get the same calls. All ranks get their request at one moment. The clock runs until the last rank's
// answer and a sample of its outputs, which the device itself gathers when the answer arrives, are there. All outputs
// are downloaded after each turn; those of a drawn call of the first turn are verified whole, and of all others a
// sixteenth, in blocks that are drawn then.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ceilings/calibration.hpp"
#include "checks/check.hpp"
#include "grader/base/statistics.hpp"
#include "grader/machine/device.hpp"
#include "grader/result/timing_record.hpp"
#include "grader/worker/submission_workers.hpp"

namespace ridge {

struct TimedRun {
  bool ok = true;
  std::string check, message;  // the gate that failed, and why
  std::string secret;          // what of it may be said where the inputs are secret; empty: nothing
  Cause cause = Cause::none;
  Timing timing;
};

using StartWorkers = std::function<std::unique_ptr<SubmissionWorkers>()>;

struct Contestants {
  StartWorkers submission, baseline;
  StartWorkers reference;  // empty: takes no part
};

struct TimedOptions {
  StopRule stop;
  double limit_seconds = 60;  // of one request
  std::uint64_t seed = 0;
  double turn_seconds = 0.003;   // device work of the largest turn; no empty request shows some 65 us of it
  double least_seconds = 0.001;  // of the smallest
  // The baseline beside the submission over alone: above this, something uses the GPU outside its turns.
  double slowed_baseline = 1.10;
  Calibration machine;  // for the floor; may be empty
  std::function<std::string(const Reply&)> explain;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// How many sets of buffers: the largest turn takes one call on each.
struct TurnPlan {
  int most = 0, least = 0;  // calls of a turn
};
TurnPlan plan_turns(double seconds_a_call, double set_bytes, double l2_bytes, double memory_bytes,
                    const TimedOptions& options);

// Times the measured case on all. `devices`: one for each rank. No process of the submission may run when this is
// called.
TimedRun time_case(const std::vector<Device*>& devices, const lab::TaskCheck& check, const lab::Case& c,
                   const Contestants& who, const TimedOptions& options);

}  // namespace ridge
