// Statistics of a range of time, and the search for names.
#pragma once
#include "timeline/analysis/kinds.hpp"

namespace ridge::viz::timeline {

struct Share {
  std::string name;
  std::uint64_t count = 0;
  Time busy = 0;
};

struct RangeStatistics {
  Time from = 0, to = 0;
  std::uint64_t events = 0;
  bool cut = false;                      // only the first of very many events were counted
  Time busy = 0;                         // summed over the outermost rows of the lanes
  std::vector<Share> names, categories;  // the largest first; at most 12 names
  double bytes = 0;                      // bytes of communication and copies, where args have them
  Time moving = 0;                       // union of the times of these events
  double bandwidth() const { return moving > 0 ? bytes / seconds(moving) : 0; }  // B/s
};

// Counts all rows, or those of `lanes` where it is not empty. An event counts with its part inside the range.
RangeStatistics statistics_of(const EventStore& store, Time from, Time to,
                              const std::vector<std::uint32_t>& lanes = {});

// Events whose name contains `text`, whatever its case, ordered by time; at most `most` are listed.
struct Found {
  std::vector<std::uint32_t> events;
  std::uint64_t count = 0;
};
Found search(const EventStore& store, std::string_view text, std::size_t most = 1000000);

}  // namespace ridge::viz::timeline
