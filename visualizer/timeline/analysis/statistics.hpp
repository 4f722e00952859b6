// What a range of time holds, and where a name occurs.
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
  bool cut = false;                      // of very many events only the first were looked at
  Time busy = 0;                         // sum over the lanes' outermost rows
  std::vector<Share> names, categories;  // the largest first; names at most 12
  double bytes = 0;                      // of communication and copies that say so
  Time moving = 0;                       // union of the times of those
  double bandwidth() const { return moving > 0 ? bytes / seconds(moving) : 0; }  // B/s
};

// Of all rows, or of lanes where `lanes` is not empty. An event counts with the part of it that is inside.
RangeStatistics statistics_of(const EventStore& store, Time from, Time to,
                              const std::vector<std::uint32_t>& lanes = {});

// Events whose name has `text` in it, in any case, by time. At most `most`.
struct Found {
  std::vector<std::uint32_t> events;
  std::uint64_t count = 0;
};
Found search(const EventStore& store, std::string_view text, std::size_t most = 1000000);

}  // namespace ridge::viz::timeline
