// Requests of files in virtual time, on the emulator: each resource of the storage (a target, the metadata server, the
// page cache, a core) is a stream whose operations take the time that the judge said. So host, streams, links and files
// have one clock.
#pragma once
#include "backend.hpp"

namespace ridge::worker {

// Lets traces hold such operations, beside calls between ranks. Called once, in both of a rank's processes.
void allow_file_operations();

}  // namespace ridge::worker
