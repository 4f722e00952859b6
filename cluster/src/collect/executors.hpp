// Chooses what carries a course's jobs out: its `executor`.
#pragma once
#include <memory>

#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

// The course must outlive it.
std::unique_ptr<Executor> make_executor(const Course& course);

}  // namespace ridge::cluster
