// The arguments of `ridge cc`, which are nvcc's.
#pragma once
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"

namespace ridge::nvcc {

// What is made of the inputs.
enum class Goal {
  program,
  objects,
  library,
  shared_library,
  device_link,
  module,        // for the emulator's cuModuleLoad
  intermediate,  // C++ for the host, as the emulator makes it of CUDA
  preprocessed,
  dependencies,
  nothing
};

struct Command {
  CompileOptions options;
  Goal goal = Goal::program;
  std::vector<std::string> link, ignored, run_arguments;
  std::vector<fs::path> inputs, library_dirs;
  std::string module_kind;      // "cubin", "fatbin" or "ptx"
  fs::path output, output_dir;  // empty: nvcc's default
  Dependencies dependencies;
  bool standard = false;  // one was named
  bool help = false, version = false, verbose = false, dry_run = false, run = false, blas = false;
  bool list_arch = false, list_code = false;
};

// Throws Error(Exit::usage).
Command command_of(const std::vector<std::string>& args);

// Whether the emulator has what that library of NVIDIA's offers; "cudart" of -lcudart and libcudart_static.a.
bool own_library(std::string name);

}  // namespace ridge::nvcc
