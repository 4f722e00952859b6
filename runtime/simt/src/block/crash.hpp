#pragma once

namespace ridge::simt {

// Turns a segmentation fault inside a kernel (a stack that overflows, code without instrumentation) into a report, and
// a division that traps into a GPU's.
void install_crash_handler();
// Signals of the calling OS thread get a stack of their own.
void use_signal_stack();

}  // namespace ridge::simt
