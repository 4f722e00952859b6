// What usually helps where a check failed for a known cause.
#pragma once
#include "lab/cause.hpp"

namespace ridge::loop {

// Null if the gate alone says more.
const char* advice_of(Cause cause);

}  // namespace ridge::loop
