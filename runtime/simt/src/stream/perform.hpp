// The work of an operation on the device: performs it, and sets the virtual seconds and the share of the GPU that it
// takes.
#pragma once
#include "stream/operation.hpp"

namespace ridge::simt {

bool perform_kernel(Operation& operation);  // false after a fault: last_fault() has it
void perform_copy(Operation& operation);
void perform_fill(Operation& operation);

}  // namespace ridge::simt
