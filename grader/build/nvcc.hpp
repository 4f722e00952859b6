// The CUDA compiler, and what it is told for the GPU at hand.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct Nvcc {
  fs::path path;
  std::string name;  // "nvcc 13.0.88"
  std::vector<std::string> flags;
  bool names_architecture = false;  // otherwise the flags mean another one on another machine
};

// RIDGE_CUDA_ARCH (as "90a") has precedence over the GPU. Throws Error(Exit::environment) without nvcc.
Nvcc nvcc_for_this_gpu();

}  // namespace ridge
