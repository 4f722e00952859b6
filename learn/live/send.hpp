// Sends a result to the collector of `ridge live`.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::loop {

struct LiveTarget {
  std::string url, token, name,
      team;  // empty ones are RIDGE_LIVE_TOKEN, _NAME (else USER) and _TEAM of the environment
};

// Throws a usage error for a wrong address or token: before anything is judged.
void check_target(const LiveTarget& target);

// Tries for some 15 seconds, at growing and random distances. If sending fails, it only says so on stderr, since the
// result is stored here; what did not arrive is kept, and sent with the next result. Never throws.
void send_live(const LiveTarget& target, const Result& result) noexcept;

}  // namespace ridge::loop
