// Level of detail: sums over runs of a row's events, so that a zoomed-out picture knows how busy each pixel was.
#pragma once
#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

inline constexpr std::uint32_t kLeaf = 16, kFanout = 8;  // events of a node of the lowest level; nodes of the next

// Once, after rows are made.
void build_levels(EventStore& store);

struct Summary {
  Time busy = 0;                      // exact, within the asked time
  std::uint16_t category = 0;         // takes the most of it; of many events by the dominant ones of their runs
  std::uint32_t first = 0, last = 0;  // events [first, last)
};

// Of [from, to). `hint`: an event at or before the first one, or row.first.
Summary summarise(const EventStore& store, const Row& row, Time from, Time to, std::uint32_t hint);

// The first event of the row that begins later than `at`; row.last: none does.
std::uint32_t first_beginning_after(const EventStore& store, const Row& row, Time at);
// The first event, from `hint` on, that ends later than `at`. Gallops, since callers walk from left to right.
std::uint32_t first_ending_after(const EventStore& store, const Row& row, Time at, std::uint32_t hint);

}  // namespace ridge::viz::timeline
