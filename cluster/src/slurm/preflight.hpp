// Before a node's GPUs grade anybody: are they idle, at their clocks, without memory errors, and as fast as they were
// measured to be? Run by the job on its node; what it says of a sick one is the reason for which the collector leaves
// that node out.
#pragma once
#include <string>
#include <vector>

#include "ceilings/calibration.hpp"

namespace ridge::cluster {

struct PreflightArguments {
  bool require = false;             // no GPU is a failure
  std::string reference, measured;  // files of `ridge calibrate --json`
  std::string keep;                 // a folder: which GPUs were measured when
};

// 0 fit, 3 not fit, 77 skipped: no GPU here.
int preflight(const PreflightArguments& arguments);

// The query of nvidia-smi that smi_problems reads (CSV without header and units).
constexpr const char* kSmiQuery =
    "uuid,name,utilization.gpu,memory.used,clocks_throttle_reasons.active,ecc.errors.uncorrected.volatile.total,"
    "clocks.applications.graphics,clocks.max.graphics";
struct Gpu {
  std::string uuid, name;
  std::vector<std::string> problems;
};
// `apps`: gpu_uuid,pid of each process that computes.
std::vector<Gpu> read_smi(const std::string& gpus, const std::string& apps);

// What a measurement lacks of the reference: the copy and the matrix products that both have.
std::vector<std::string> slower(const Calibration& measured, const Calibration& reference);

}  // namespace ridge::cluster
