#include "grader/lab/header_line.hpp"

#include <algorithm>

namespace ridge {

std::vector<std::pair<std::string, std::string>> header_fields(std::string_view line) {
  constexpr std::string_view comment = "// ", colon = ": ", semicolon = "; ";
  if (line.substr(0, comment.size()) != comment) return {};
  line.remove_prefix(comment.size());
  std::vector<std::pair<std::string, std::string>> fields;
  while (true) {
    const std::size_t end = std::min(line.find(semicolon), line.size());
    const std::string_view field = line.substr(0, end);
    const std::size_t mark = std::min(field.find(colon), field.size());
    if (mark == 0) return {};
    fields.emplace_back(field.substr(0, mark), mark < field.size() ? field.substr(mark + colon.size()) : "");
    if (end == line.size()) return fields;
    line.remove_prefix(end + semicolon.size());
  }
}

}  // namespace ridge
