// What readelf says of objects' symbols.
#pragma once
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

// The listing of each object, in their order, by one readelf in a sandbox. Throws where readelf cannot read one.
std::vector<std::string> symbol_tables(const std::vector<fs::path>& objects);

}  // namespace ridge
