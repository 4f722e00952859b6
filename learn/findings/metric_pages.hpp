// docs/metrics.md, the one place that says what metrics, counters and gates mean, as a list.
#pragma once
#include <string>
#include <vector>

namespace ridge::loop {

struct MetricPage {
  std::string name, meaning;
  std::string backend, better;  // of a goal's metric
  bool gate = false;
};

// "a_{ld,st}.sum" stands for two, and so do two names in one cell.
std::vector<MetricPage> metric_pages(const std::string& markdown);
std::vector<MetricPage> metric_pages();  // of docs/metrics.md

}  // namespace ridge::loop
