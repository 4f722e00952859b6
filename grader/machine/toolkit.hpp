// The CUDA Toolkit of this machine.
#pragma once
#include "grader/base/paths.hpp"

namespace ridge {

// nvcc on PATH, in CUDA_HOME or in /usr/local/cuda; empty where there is none.
fs::path find_nvcc();

// Where the Toolkit has Thrust and libcu++ without the rest of its headers (CUDA 13); empty where there is none.
fs::path cccl_headers();

}  // namespace ridge
