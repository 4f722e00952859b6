#include "device/functions.hpp"

#include <cstdio>

#include "device/host_access.hpp"

namespace ridge::simt {

void* device_function(const char* caller, const void* code, std::size_t bytes, const std::string& name) {
  std::string why = "programs that give code to libraries are linked by `ridge cc`";
  void* found = find_device_function == nullptr ? nullptr : find_device_function(code, bytes, name, why);
  if (found == nullptr)
    std::fprintf(stderr, "ridge: refused: %s: no function %s in the code: %s\n", caller, name.c_str(), why.c_str());
  return found;
}

DeviceFunctions::DeviceFunctions() { ++host_algorithms; }
DeviceFunctions::~DeviceFunctions() { --host_algorithms; }

}  // namespace ridge::simt
