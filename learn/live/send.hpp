// Sends a result to the collector of `ridge live`.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::loop {

// `name` and `token`, where they are empty, come from RIDGE_LIVE_NAME, else USER, and from RIDGE_LIVE_TOKEN. Throws a
// usage error for a wrong address. Where sending fails it says so on stderr: that is no reason to lose the result.
void send_live(const std::string& url, const std::string& name, const std::string& token, const Result& result);

}  // namespace ridge::loop
