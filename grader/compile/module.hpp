// Modules: code that a running program loads, through the driver API. runtime/simt/driver/image.hpp is the other side.
#pragma once
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"

namespace ridge {

// Links one or more objects as an image. What it calls of the emulator and of the C library is left to the program that
// loads it.
CompileFailure link_module(const std::vector<fs::path>& objects, const fs::path& image);

// Whether these objects load modules, or compile some: they call the driver API or nvrtc.
bool uses_modules(const SymbolTables& objects);

// Whether these objects give cuFFT or cuSPARSE functions in code that they hold or compile.
bool gives_code(const SymbolTables& objects);

}  // namespace ridge
