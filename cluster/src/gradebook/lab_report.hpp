// What an instructor wants to know of a lab: distribution, failing checks, versions, what to look at.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

// What a result failed, as "copy/correct"; a goal that was not measured waits for something else that failed, and is no
// failure of its own.
std::set<std::string> failing_checks(const Result& result);
constexpr const char* kBuildsNot = "(does not build)";

// One hash of the lab's files that a result was judged with, 64 digits; empty where the record does not say.
std::string lab_version(const Result& result);
// The same of this machine's files.
std::string lab_version_here(const std::string& lab);
// How many results that count were judged by another version of the lab than this one, or for other points.
int outdated_results(Gradebook& book, const std::string& lab);

// Sentences on results that somebody should look at.
std::vector<std::string> concerns(Gradebook& book, const std::string& lab);
// The instructor's decisions, oldest first.
struct Decision {
  std::int64_t made = 0;  // Unix seconds
  std::string kind, student, value, reason, author;
};
std::vector<Decision> decisions(Gradebook& book, const std::string& lab);

// All of it as text.
std::string lab_report(Gradebook& book, const std::string& lab);

}  // namespace ridge::cluster
