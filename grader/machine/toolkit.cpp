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

fs::path cccl_headers() {
  std::vector<fs::path> homes;
  if (const char* home = std::getenv("CUDA_HOME")) homes.emplace_back(home);
  homes.emplace_back("/usr/local/cuda");
  std::error_code ec;
  for (const auto& home : homes)
    if (fs::is_regular_file(home / "include/cccl/thrust/version.h", ec)) return home / "include/cccl";
  return {};
}

}  // namespace ridge
