// Reads docs/metrics.md, the one place that says what metrics, counters and gates mean.
#pragma once
#include <string>
#include <vector>

namespace ridge::loop {

struct MetricPage {
  std::string name, meaning;
  std::string backend, better;  // of the metric of a goal
  bool gate = false;
};

// The rows of the tables in `markdown`. "a_{ld,st}.sum" gives two pages, and so do two names in one cell.
std::vector<MetricPage> metric_pages(const std::string& markdown);
std::vector<MetricPage> metric_pages();  // of docs/metrics.md

}  // namespace ridge::loop
