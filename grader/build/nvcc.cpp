#include "grader/build/nvcc.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "grader/base/error.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox_gpu.hpp"

namespace ridge {

Nvcc nvcc_for_this_gpu() {
  Nvcc compiler{find_nvcc(), {}, {"-O3", "-std=c++20", "-lineinfo"}};
  if (compiler.path.empty())
    throw Error(Exit::environment, "no nvcc found on PATH, in CUDA_HOME or in /usr/local/cuda",
                "install the CUDA Toolkit, load its module, or use --backend cpu");
  const char* arch = std::getenv("RIDGE_CUDA_ARCH");
  std::string target = arch != nullptr ? arch : "native";
  // nvcc finds no GPU in its sandbox.
  if (int known = granted_gpu().architecture; target == "native" && known != 0)
    target = std::to_string(known) + (known >= 90 ? "a" : "");  // with what only this one has, as wgmma on sm_90a
  compiler.names_architecture = target != "native";
  compiler.flags.push_back(compiler.names_architecture ? fmt::format("-gencode=arch=compute_{0},code=sm_{0}", target)
                                                       : "-arch=native");
  const std::string version = run_process({compiler.path.string(), "--version"}, {}, {}).output;
  if (auto at = version.find(", V"); at != std::string::npos)
    compiler.name = "nvcc " + version.substr(at + 3, version.find_first_of("\n ", at + 3) - at - 3);
  return compiler;
}

}  // namespace ridge
