#include "timeline/store/levels.hpp"

#include <algorithm>
#include <array>

namespace ridge::viz::timeline {
namespace {

// Busy time by category, for the few categories of a run of events.
class Tally {
 public:
  void add(std::uint16_t category, Time busy) {
    for (std::size_t i = 0; i < used_; ++i)
      if (entries_[i].category == category) return void(entries_[i].busy += busy);
    if (used_ < entries_.size()) entries_[used_++] = {category, busy};
  }
  std::pair<std::uint16_t, Time> top() const {
    std::pair<std::uint16_t, Time> best{0, -1};
    for (std::size_t i = 0; i < used_; ++i)
      if (entries_[i].busy > best.second) best = {entries_[i].category, entries_[i].busy};
    return best;
  }

 private:
  struct Entry {
    std::uint16_t category;
    Time busy;
  };
  std::array<Entry, 48> entries_;
  std::size_t used_ = 0;
};

}  // namespace

void build_levels(EventStore& s) {
  for (Row& row : s.rows) {
    row.levels = static_cast<std::uint32_t>(s.levels.size());
    std::uint32_t span = kLeaf, count = (row.last - row.first) / span;  // whole nodes only
    std::uint32_t below = 0;
    for (bool leaf = true; count > 0; leaf = false) {
      const auto first = static_cast<std::uint32_t>(s.node_busy.size());
      for (std::uint32_t i = 0; i < count; ++i) {
        Tally tally;
        Time busy = 0;
        if (leaf) {
          for (std::uint32_t e = row.first + i * span; e < row.first + (i + 1) * span; ++e)
            busy += s.duration[e], tally.add(s.category[e], s.duration[e]);
        } else {
          for (std::uint32_t n = below + i * kFanout; n < below + (i + 1) * kFanout; ++n) {
            busy += s.node_busy[n];
            const double share = s.node_share[n] / 65535.0;
            tally.add(s.node_category[n], static_cast<Time>(share * static_cast<double>(s.node_busy[n])));
          }
        }
        const auto [category, most] = tally.top();
        s.node_busy.push_back(busy);
        s.node_category.push_back(category);
        s.node_share.push_back(
            busy > 0 ? static_cast<std::uint16_t>(65535.0 * static_cast<double>(most) / static_cast<double>(busy)) : 0);
      }
      s.levels.push_back({first, count, span});
      below = first;
      span *= kFanout;
      count /= kFanout;
    }
    s.levels.push_back({0, 0, 0});  // marks the end of the row's levels
  }
  s.levels.shrink_to_fit();
  s.node_busy.shrink_to_fit();
  s.node_category.shrink_to_fit();
  s.node_share.shrink_to_fit();
}

std::uint32_t first_beginning_after(const EventStore& s, const Row& row, Time at) {
  const auto from = s.begin.begin() + row.first, to = s.begin.begin() + row.last;
  return static_cast<std::uint32_t>(std::upper_bound(from, to, at) - s.begin.begin());
}

std::uint32_t first_ending_after(const EventStore& s, const Row& row, Time at, std::uint32_t hint) {
  // Events of a row do not overlap, so their ends are sorted too.
  std::uint32_t low = std::max(hint, row.first), step = 1;
  while (low < row.last && s.end(low) <= at) {
    const std::uint32_t probe = step < row.last - low ? low + step : row.last;
    if (probe == row.last || s.end(probe) > at) {
      std::uint32_t left = low + 1, right = probe;
      while (left < right) {
        const std::uint32_t middle = left + (right - left) / 2;
        if (s.end(middle) <= at)
          left = middle + 1;
        else
          right = middle;
      }
      return left;
    }
    low = probe;
    step *= 2;
  }
  return std::min(low, row.last);
}

Summary summarise(const EventStore& s, const Row& row, Time from, Time to, std::uint32_t hint) {
  Summary out;
  out.first = first_ending_after(s, row, from, hint);
  // Finds the first event, from out.first on, that begins at or after `to`.
  std::uint32_t last = out.first, step = 1;
  while (last < row.last && s.begin[last] < to) {
    const std::uint32_t probe = step < row.last - last ? last + step : row.last;
    if (probe < row.last && s.begin[probe] < to) {
      last = probe;
      step *= 2;
      continue;
    }
    last = static_cast<std::uint32_t>(std::lower_bound(s.begin.begin() + last + 1, s.begin.begin() + probe, to) -
                                      s.begin.begin());
    break;
  }
  out.last = last;
  Tally tally;
  const auto add_event = [&](std::uint32_t e) {
    const Time busy = std::min(s.end(e), to) - std::max(s.begin[e], from);
    if (busy <= 0) return;
    out.busy += busy;
    tally.add(s.category[e], busy);
  };
  // The first and the last event may extend beyond the range. Between them, the largest nodes that fit are summed.
  std::uint32_t e = out.first;
  if (e < out.last) add_event(e++);
  const std::uint32_t inner = out.last > e ? out.last - 1 : e;
  while (e < inner) {
    const Level* best = nullptr;
    for (const Level* l = &s.levels[row.levels]; l->count > 0; ++l) {
      const std::uint32_t at = e - row.first;
      if (at % l->span != 0 || inner - e < l->span) break;
      best = l;
    }
    if (!best) {
      add_event(e++);
      continue;
    }
    const std::uint32_t node = best->first + (e - row.first) / best->span;
    out.busy += s.node_busy[node];
    tally.add(s.node_category[node],
              static_cast<Time>(s.node_share[node] / 65535.0 * static_cast<double>(s.node_busy[node])));
    e += best->span;
  }
  if (e < out.last) add_event(e);
  out.category = tally.top().second >= 0 ? tally.top().first : 0;
  return out;
}

}  // namespace ridge::viz::timeline
