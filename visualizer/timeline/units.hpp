// Texts for times, bytes and rates.
#pragma once
#include <string>
#include <vector>

#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

std::string time_text(Time t);             // "12.4 us"
std::string bytes_text(double bytes);      // "16 MiB"
std::string rate_text(double per_second);  // bytes per second: "312 GB/s"
std::string count_text(std::uint64_t n);   // "10,000,000"
std::string percent_text(double share);    // "27.1%"

struct AxisTick {
  Time at = 0;
  std::string label;
};
// At most `most` ticks in steps of 1, 2 or 5. Labels count from `zero` and share a unit.
std::vector<AxisTick> axis_ticks(Time from, Time to, Time zero, int most);

}  // namespace ridge::viz::timeline
