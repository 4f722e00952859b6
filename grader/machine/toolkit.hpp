// The CUDA Toolkit of this machine.
#pragma once
#include "grader/base/paths.hpp"

namespace ridge {

// nvcc on PATH, in CUDA_HOME or in /usr/local/cuda; empty where there is none.
fs::path find_nvcc();

// The folder in which the Toolkit (CUDA 13) keeps Thrust and libcu++ apart from its other headers; empty if there is
// none.
fs::path cccl_headers();

}  // namespace ridge
