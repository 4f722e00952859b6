// The files of this process, for programs without a judge and for tests: the same calls, answered here.
#pragma once
#include "service.hpp"

namespace ridge::files {

// Whose files calls of this process reach from now on; nullptr: nobody's. It must outlive the calls.
void use(Service* service);

}  // namespace ridge::files
