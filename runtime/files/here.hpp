// Requests that a process carries out itself, on descriptors of its own.
#pragma once
#include "request.hpp"

namespace ridge::files {

// False where the request is none of these: reads, writes and their completions, fsync, close, fstat, advice.
bool request_here(const Request& request, Reply& reply);

}  // namespace ridge::files
