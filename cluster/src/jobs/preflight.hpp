// Checks a node's GPUs before they grade: whether they are idle, at full clocks, free of memory errors, and as fast as
// calibrated. The job runs it on its node; its output is the reason why the collector excludes a bad node.
#pragma once
#include <string>
#include <vector>

#include "ceilings/calibration.hpp"

namespace ridge::cluster {

struct PreflightArguments {
  bool require = false;             // a node without a GPU fails
  std::string reference, measured;  // files of `ridge calibrate --json`
  std::string keep;                 // a folder that records when each GPU was measured
};

// Returns 0 where the GPUs are fit, 3 where they are not, and 77 (skipped) where there is none.
int preflight(const PreflightArguments& arguments);

// The nvidia-smi query whose output read_smi reads (CSV without header and units).
constexpr const char* kSmiQuery =
    "uuid,name,utilization.gpu,memory.used,clocks_throttle_reasons.active,ecc.errors.uncorrected.volatile.total,"
    "clocks.applications.graphics,clocks.max.graphics";
struct Gpu {
  std::string uuid, name;
  std::vector<std::string> problems;
};
// `gpus` is the output of kSmiQuery; `apps` has a line "gpu_uuid,pid" for each compute process.
std::vector<Gpu> read_smi(const std::string& gpus, const std::string& apps);

// The problems of a GPU that is slower than the reference in the copy or a matrix product.
std::vector<std::string> slower(const Calibration& measured, const Calibration& reference);

}  // namespace ridge::cluster
