// Dates are Unix seconds, read and written as RFC 3339, for deadlines and records. Waits and time-outs use the steady
// clock, so that a jump of the wall clock changes no verdict.
#pragma once
#include <cstdint>
#include <string>

namespace ridge::cluster {

// Unix seconds now. RIDGE_CLUSTER_CLOCK names a file with seconds to add, for tests and rehearsals.
std::int64_t wall_now();
double steady_now();

std::string date_text(std::int64_t unix_seconds);  // "2026-11-22T16:00:00Z"
// Reads "2026-11-30T23:59:00+01:00", with `T` or a blank, and `Z` or nothing for UTC. Throws Error(Exit::usage).
std::int64_t parse_date(const std::string& text);

}  // namespace ridge::cluster
