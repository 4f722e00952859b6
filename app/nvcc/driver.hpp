// `ridge cc`: nvcc's work, for the emulator.
#pragma once
#include <string>
#include <vector>

namespace ridge::nvcc {

// The exit code. Throws Error.
int drive(const std::vector<std::string>& args, const char* help);

}  // namespace ridge::nvcc
