// Device functions in code that the program compiled while it ran.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::simt {

// Finds the function `name` in what nvrtcGetLTOIR gave. Null: `why` says it.
using FindFunction = void* (*)(const void* code, std::size_t bytes, const std::string& name, std::string& why);

// Set in programs that `ridge cc` has linked with the driver API's loader of modules, for a library that asks for it.
inline FindFunction find_device_function = nullptr;

// The same with a word on stderr where it is not there; `caller` begins it.
void* device_function(const char* caller, const void* code, std::size_t bytes, const std::string& name);

// While one lives, this thread runs device functions for a library: they follow pointers to device memory.
class DeviceFunctions {
 public:
  DeviceFunctions();
  ~DeviceFunctions();
  DeviceFunctions(const DeviceFunctions&) = delete;
};

}  // namespace ridge::simt
