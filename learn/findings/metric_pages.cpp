#include "learn/findings/metric_pages.hpp"

#include <algorithm>
#include <sstream>

#include "grader/base/paths.hpp"

namespace ridge::loop {

namespace {

std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> all;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] != '|') {
      cell += row[i];
      continue;
    }
    const auto a = cell.find_first_not_of(' '), b = cell.find_last_not_of(' ');
    all.push_back(a == std::string::npos ? "" : cell.substr(a, b - a + 1));
    cell.clear();
  }
  return all;
}

// The names between backticks, with their braces expanded.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> all;
  for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
    const std::size_t end = cell.find('`', at + 1);
    if (end == std::string::npos) break;
    const std::string name = cell.substr(at + 1, end - at - 1);
    at = end + 1;
    const auto open = name.find('{'), close = name.find('}');
    if (open == std::string::npos || close == std::string::npos || close < open) {
      all.push_back(name);
      continue;
    }
    std::istringstream parts(name.substr(open + 1, close - open - 1));
    for (std::string part; std::getline(parts, part, ',');)
      all.push_back(name.substr(0, open) + part + name.substr(close + 1));
  }
  return all;
}

}  // namespace

std::vector<MetricPage> metric_pages(const std::string& markdown) {
  std::vector<MetricPage> all;
  std::istringstream lines(markdown);
  bool gates = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("## ", 0) == 0) gates = line == "## Gates";
    if (line.rfind("| `", 0) != 0) continue;
    const std::vector<std::string> c = cells(line);
    if (c.size() != 2 && c.size() != 4) continue;
    for (const std::string& name : names_in(c[0]))
      all.push_back(c.size() == 4 ? MetricPage{name, c[2], c[1], c[3], gates} : MetricPage{name, c[1], "", "", gates});
  }
  return all;
}

std::vector<MetricPage> metric_pages() { return metric_pages(file_text(root_dir() / "docs/metrics.md")); }

}  // namespace ridge::loop
