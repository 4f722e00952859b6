// A worker without tasks: it starts, answers empty requests, and measures what the round trip costs.
#include "../lab/call.hpp"

bool ridge_entry(const ridge_call&) { return false; }
