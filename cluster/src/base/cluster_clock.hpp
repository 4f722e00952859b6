// Dates: Unix seconds, read and written as RFC 3339. Deadlines and records use them; what waits or times out uses the
// steady clock, so that a wall clock that jumps changes no verdict.
#pragma once
#include <cstdint>
#include <string>

namespace ridge::cluster {

// RIDGE_CLUSTER_CLOCK names a file with seconds to add: tests and rehearsals move the date with it.
std::int64_t wall_now();
double steady_now();

std::string date_text(std::int64_t unix_seconds);  // "2026-11-22T16:00:00Z"
// "2026-11-30T23:59:00+01:00", "... Z", or a date with a blank between, which is UTC. Throws Error(Exit::usage).
std::int64_t parse_date(const std::string& text);

}  // namespace ridge::cluster
