// The seccomp filters of a sandbox.
#pragma once
#include <string>
#include <vector>

namespace ridge {

// BPF programs to be installed one after the other; a call must pass all. Empty where this ridge was built without
// libseccomp. `processes`: the program may start others (a compiler); else threads only.
std::vector<std::string> system_call_filters(bool processes);

}  // namespace ridge
