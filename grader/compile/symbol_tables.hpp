// Reads objects' symbol tables with readelf.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct SymbolTables {
  bool whole = false;               // readelf read all of them
  std::vector<std::string> tables;  // the listing of each object, in their order
};

// By one readelf in a sandbox.
SymbolTables symbol_tables(const std::vector<fs::path>& objects);

}  // namespace ridge
