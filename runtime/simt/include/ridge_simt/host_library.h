// Libraries whose algorithms run on the host and read device memory there include this header. A program that
// includes one runs its device work at once, in the order of issue, and its host code may follow pointers to device
// memory.
#pragma once
#include <iostream>  // as CUDA's Thrust brings it

extern "C" void __ridge_host_library(void);

namespace ridge_simt {
struct HostLibrary {
  HostLibrary() { __ridge_host_library(); }
};
static const HostLibrary host_library;
}  // namespace ridge_simt
