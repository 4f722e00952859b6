// What a job does on its node: grades the submissions of its part of a batch, one after the other, and publishes each
// result once. It knows the batch's folder and nothing of the gradebook.
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

// The shared folder:
//   contents/LAB/HASH/      a submission's files
//   batches/NAME/plan.json  what the batch's tasks are to do
//   built/TOKEN/            what an attempt built, until it is judged
//   spool/TOKEN.json        what an attempt published ("ridge.attempt/1"), until the collector has taken it
//   taken/TOKEN.json        and after
//   beat/NAME.TASK          a sign of life of a running task
// TOKEN is the attempt's; of one token there is one file.
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

int run_task(const fs::path& batch, int task);

}  // namespace ridge::cluster
