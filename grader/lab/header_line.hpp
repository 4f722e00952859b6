// The first line of a solution that replaces a lab's file: "// replaces: copy.cu; fails: copy/memory; backend: cpu".
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge {

// The keys of a line "// key: value; key: value" and their values, in their order; a part without a colon is a key
// without a value. Empty where the line is no comment or a key is missing.
std::vector<std::pair<std::string, std::string>> header_fields(std::string_view line);

}  // namespace ridge
