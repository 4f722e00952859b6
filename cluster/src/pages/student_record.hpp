// A record as its student may have it.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::cluster {

// What concerns the student's own work and nothing of the course's: no nonce, paths, nodes, files beside the record, or
// hashes of what judged it.
Result for_student(Result result);

// The same as a ridge.result/1, which `ridge report` reads. It has no signature, since it is no longer what was signed.
std::string record_for_student(const std::string& record);

}  // namespace ridge::cluster
