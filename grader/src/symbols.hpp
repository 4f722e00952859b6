// Which symbols a submission's objects may import and define: the standard library, CUDA, and what the compiler itself
// asks for. Everything else reaches the machine, the judge's end of the worker, or the emulator's insides.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "paths.hpp"

namespace ridge {

struct ObjectSymbols {
  std::string source;  // shown name of the file
  std::vector<std::string> imported, defined, weak;
};

// From `readelf -sW`.
ObjectSymbols read_symbols(const std::string& listing, const std::string& source);

// Messages about what may not be there; empty where all is well. `libraries`: "cublas", "nccl", as lab.toml allows them.
std::string check_symbols(const std::vector<ObjectSymbols>& objects, const std::vector<std::string>& libraries,
                          const std::set<std::string>& worker_imports);

}  // namespace ridge
