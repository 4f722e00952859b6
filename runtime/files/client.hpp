// For those that hand calls on.
#pragma once
#include "request.hpp"

namespace ridge::files {

// The rank that the calling thread plays: 0 outside of lives_through().
int playing();

}  // namespace ridge::files
