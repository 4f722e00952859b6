// The symbols that a submission's objects may import and define: the standard library, CUDA, and the compiler's own.
// Any other symbol could reach the machine, the judge's end of the worker, or the emulator's internals.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct ObjectSymbols {
  std::string source;  // shown name of the file
  std::vector<std::string> imported, defined, weak;
};

// Parses the output of `readelf -sW`.
ObjectSymbols read_symbols(const std::string& listing, const std::string& source);

struct SymbolRules {
  std::vector<std::string> libraries;    // "cublas", "nccl": what may be called besides
  std::vector<std::string> forbidden;    // what may not, in this lab; a * at the end stands for anything
  std::vector<std::string> entry;        // of these, what the course's own entry needs
  std::vector<std::string> headers;      // whose names begin so, and which are not for this lab
  std::set<std::string> worker_imports;  // what the worker calls, and nobody else may define
};

// Why an object does not fit: what may not be there, what is called and defined nowhere, what another defines as well.
struct SymbolFault {
  enum class Kind { refused, missing, twice } kind = Kind::refused;
  std::size_t object = 0;  // by its place among those that were checked
  std::string name;        // as the linker has it
  std::string message;
};

std::vector<SymbolFault> symbol_faults(const std::vector<ObjectSymbols>& objects, const SymbolRules& rules);

// The messages; empty where all is well.
std::string check_symbols(const std::vector<ObjectSymbols>& objects, const SymbolRules& rules);

}  // namespace ridge
