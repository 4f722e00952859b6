// Whether a course's keys fit each other.
#pragma once
#include <optional>

#include "cluster/src/base/course.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

// Why every result that a job signs would be rejected; nothing where it would not.
std::optional<Error> wrong_keys(const Course& course);

}  // namespace ridge::cluster
