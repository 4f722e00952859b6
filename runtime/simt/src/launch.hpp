#pragma once
#include <cstddef>

#include "block.hpp"

namespace ridge::simt {

// Runs a whole grid to its end. False after a fault.
bool run_launch(const char* kernel, Index3 grid, Index3 block, std::size_t dynamic_shared, void (*run)(void*),
                void* closure, std::size_t closure_bytes);

}  // namespace ridge::simt
