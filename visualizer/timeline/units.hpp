// Times, bytes and rates as people read them.
#pragma once
#include <string>
#include <vector>

#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

std::string time_text(Time t);             // "12.4 us"
std::string bytes_text(double bytes);      // "16 MiB"
std::string rate_text(double per_second);  // bytes: "312 GB/s"
std::string count_text(std::uint64_t n);   // "10,000,000"
std::string percent_text(double share);    // "27.1%"

struct AxisTick {
  Time at = 0;
  std::string label;
};
// Steps of 1, 2 and 5, at most `most` of them; labels count from `zero`, in one unit.
std::vector<AxisTick> axis_ticks(Time from, Time to, Time zero, int most);

}  // namespace ridge::viz::timeline
