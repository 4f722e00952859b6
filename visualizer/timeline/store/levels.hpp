// Levels of detail: sums over runs of a row's events give the busy share of each pixel at every zoom.
#pragma once
#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

inline constexpr std::uint32_t kLeaf = 16,
                               kFanout = 8;  // events in a node of the lowest level; nodes in a node of the next level

// Builds the levels once the rows are complete.
void build_levels(EventStore& store);

struct Summary {
  Time busy = 0;                      // exact, inside the requested range
  std::uint16_t category = 0;         // the category with the most busy time; approximate over many events
  std::uint32_t first = 0, last = 0;  // events [first, last)
};

// Summarises [from, to). `hint` is an event at or before the first one, or row.first.
Summary summarise(const EventStore& store, const Row& row, Time from, Time to, std::uint32_t hint);

// The first event of the row that begins later than `at`, or row.last.
std::uint32_t first_beginning_after(const EventStore& store, const Row& row, Time at);
// The first event, from `hint` on, that ends later than `at`. It gallops, since callers move from left to right.
std::uint32_t first_ending_after(const EventStore& store, const Row& row, Time at, std::uint32_t hint);

}  // namespace ridge::viz::timeline
