#include "timeline/store/store.hpp"

#include <algorithm>

namespace ridge::viz::timeline {

std::uint32_t EventStore::row_of(std::size_t event) const {
  const auto after =
      std::upper_bound(rows.begin(), rows.end(), event, [](std::size_t e, const Row& r) { return e < r.first; });
  // Rows without events share `first` with the next row; the last of them holds the event.
  return static_cast<std::uint32_t>(after - rows.begin()) - 1;
}

const Detail* EventStore::detail(std::size_t event) const {
  const auto at = std::lower_bound(details.begin(), details.end(), event,
                                   [](const Detail& d, std::size_t e) { return d.event < e; });
  return at != details.end() && at->event == event ? &*at : nullptr;
}

int EventStore::rank_of(const Process& p) const {
  return p.rank >= 0 ? p.rank : static_cast<int>(&p - processes.data());
}

std::size_t EventStore::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  std::size_t sum = of(begin) + of(duration) + of(name) + of(category) + of(offset_low) + of(offset_high);
  sum += of(categories) + of(details) + of(arrows) + of(levels) + of(node_busy) + of(node_category) + of(node_share);
  sum += of(lanes) + of(rows) + of(processes) + strings.bytes();
  for (const Counter& c : counters) sum += of(c.at) + of(c.value);
  return sum;
}

}  // namespace ridge::viz::timeline
