#include "grader/machine/toolkit.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "grader/sandbox/process.hpp"

namespace ridge {

fs::path find_nvcc() {
  std::vector<std::string> names = {"nvcc"};
  if (const char* home = std::getenv("CUDA_HOME")) names.push_back(std::string(home) + "/bin/nvcc");
  names.push_back("/usr/local/cuda/bin/nvcc");
  return find_program(names);
}

}  // namespace ridge
