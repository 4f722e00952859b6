// The ranges that a host thread has open (nvtx3/nvToolsExt.h).
#pragma once

namespace ridge::simt {

// "RANGE/CALL" inside a range, else `call`. The text lives as long as the program.
const char* named_by_range(const char* call);

}  // namespace ridge::simt
