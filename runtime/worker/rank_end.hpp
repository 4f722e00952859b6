// The end of a rank in the middle of a call.
#pragma once
#include <string>

#include "../lab/cause.hpp"
#include "protocol.hpp"

namespace ridge::worker {

// Tells the judge the reason, and ends the process. `report`: lines for people, with places as protocol::Report has
// them. `follows`: another rank is the cause.
[[noreturn]] void end_rank(protocol::Gate gate, Cause cause, bool follows, const std::string& report);

}  // namespace ridge::worker
