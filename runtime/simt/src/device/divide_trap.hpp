#pragma once
#include <ucontext.h>

namespace ridge::simt {

// A GPU's integer division does not trap: by zero it gives all ones (and the dividend as remainder), INT_MIN / -1 is
// INT_MIN. Gives the instruction that has trapped these results and moves behind it. False where it is no division.
bool finish_division(ucontext_t& context);

}  // namespace ridge::simt
