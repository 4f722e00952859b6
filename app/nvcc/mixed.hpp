// Kernels that count beside kernels that do not, in one program: refused.
#pragma once
#include <string>
#include <vector>

#include "grader/compile/symbol_tables.hpp"

namespace ridge::nvcc {

// Whether an object has kernels that were built with --plain.
bool has_plain_kernels(const std::string& symbol_table);
bool has_counted_code(const std::string& symbol_table);
// The sentence for the first two objects that do not go together, by their names; empty where all do.
std::string mixed_objects(const SymbolTables& symbols, const std::vector<std::string>& names);

}  // namespace ridge::nvcc
