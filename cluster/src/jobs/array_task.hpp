// One task of a batch's job, on its node: it grades its submissions one after the other and publishes each
// result once. It reads the batch's folder and never the gradebook.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

// The shared folder:
//   contents/LAB/HASH/      a submission's files
//   batches/NAME/plan.json  the work of each task of the batch
//   built/TOKEN/            what an attempt built, until it is judged
//   spool/TOKEN.json        what an attempt published ("ridge.attempt/1"), until the collector takes it
//   taken/TOKEN.json        the same file after that
//   beat/NAME.TASK          the heartbeat of a running task
// Each attempt has its own TOKEN and publishes one file.
inline fs::path spool_file(const fs::path& shared, const std::string& token) {
  return shared / "spool" / (token + ".json");
}
inline fs::path taken_file(const fs::path& shared, const std::string& token) {
  return shared / "taken" / (token + ".json");
}
inline fs::path built_dir(const fs::path& shared, const std::string& token) { return shared / "built" / token; }
inline fs::path beat_file(const fs::path& shared, const std::string& batch, int task) {
  return shared / "beat" / (batch + "." + std::to_string(task));
}

// How the reason of an attempt begins whose judge did not end within its limit.
constexpr const char* kHung = "the judge did not end within";

// The name of the node that this job runs on, as the executor knows it.
std::string node_name();

// Grades the submissions of array task `task` in plan.json. Throws Error(Exit::environment) where the plan is
// unreadable.
int run_array_task(const fs::path& batch, int task);

}  // namespace ridge::cluster
