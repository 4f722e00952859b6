// The seccomp filters of a sandbox.
#pragma once
#include <string>
#include <vector>

namespace ridge {

enum class Calls {
  worker,      // threads, files, and the descriptors that it was given
  gpu_worker,  // and sockets of the own machine: CUDA's driver opens one for itself
  ranks,       // and TCP: NCCL's ranks find each other so
  builder,     // of a worker's and other programs
};

// BPF programs to be installed one after the other; a call must pass all. Empty where this ridge was built without
// libseccomp.
std::vector<std::string> system_call_filters(Calls calls);

}  // namespace ridge
