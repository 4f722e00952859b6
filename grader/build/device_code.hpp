// What the compilers of this machine make of one file's kernels: machine code where nvcc and nvdisasm are there, else
// PTX, of nvcc or of Clang, which needs no CUDA Toolkit for files that use little of it but the language.
#pragma once
#include <string>
#include <vector>

#include "grader/build/device_listing.hpp"
#include "grader/lab/lab.hpp"
#include "grader/machine/toolkit.hpp"

namespace ridge {

struct DeviceCode {
  std::string form;      // "SASS", "PTX"; empty where there is none
  std::string compiler;  // "nvcc 13.0.88"
  std::string target;    // "sm_90a"
  std::vector<DeviceInstruction> instructions;
  std::string problem;  // why there is none, and what would help
};

// Compiles `file` of the student's folder `dir` in the sandbox of the builds, with the lab's contract laid over it. The
// result is neither linked nor run, and no grade depends on it. `nvcc`: empty where there is none. Throws Error as
// `stage` does.
DeviceCode device_code(const Lab& lab, const fs::path& dir, const std::string& file,
                       const fs::path& nvcc = find_nvcc());

}  // namespace ridge
