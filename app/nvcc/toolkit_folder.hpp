// The folder that build systems take for the CUDA Toolkit: bin/nvcc, include, lib64. Its libraries are names only; what
// they offer is part of the emulator (cmake/RidgeToolkit.cmake makes it).
#pragma once
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::nvcc {

fs::path toolkit_folder();

// The folder's headers, or a real toolkit's.
bool toolkit_headers(const fs::path& dir);

// "cublas" of <folder>/lib64/libcublas.so, and of a real toolkit's; empty for other files.
std::string toolkit_library(const fs::path& file);

// What nvcc prints under -v and CMake reads: where the toolkit is, and how a program is linked.
std::string settings_text();

}  // namespace ridge::nvcc
