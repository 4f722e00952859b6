// Sends a result to the collector of `ridge live`.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::loop {

// An empty `name` is taken from RIDGE_LIVE_NAME or else from USER, an empty `token` from RIDGE_LIVE_TOKEN. Throws a
// usage error for a wrong address. If sending fails, it only says so on stderr, since the result is stored here.
void send_live(const std::string& url, const std::string& name, const std::string& token, const Result& result);

}  // namespace ridge::loop
