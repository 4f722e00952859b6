// Shared libraries, as far as the emulator has them. Its __shared__ arrays are thread-local at fixed offsets, which a
// library that is loaded later cannot have. So libx.so is an archive under that name, with a list of the libraries that
// it was linked with: a program takes in what it uses, and dlopen() refuses it.
#pragma once
#include <string>
#include <vector>

#include "app/nvcc/command_line.hpp"

namespace ridge::nvcc {

// Every object needs a name of its own: an archive keeps only one of each name. `libraries` are linker's arguments.
void make_archive(const std::vector<fs::path>& objects, const fs::path& archive,
                  const std::vector<std::string>& libraries);

// The libraries that a shared library was linked with, as arguments for later links.
std::vector<std::string> libraries_of(const Command& command);

// What the shared libraries among `objects` and behind the command's -l need themselves.
std::vector<std::string> behind(const std::vector<fs::path>& objects, const Command& command);

}  // namespace ridge::nvcc
