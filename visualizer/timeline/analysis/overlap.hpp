// How much of each rank's communication its own kernels hide, and how much is exposed.
#pragma once
#include "timeline/analysis/kinds.hpp"

namespace ridge::viz::timeline {

struct RankOverlap {
  std::uint32_t process = 0;
  int rank = 0;
  Spans compute, communication, exposed;        // exposed: communication while no kernel of the rank runs
  Time busy = 0, transfers = 0, uncovered = 0;  // sums of the spans: kernels, communication, exposed
  double exposed_share() const {
    return transfers > 0 ? static_cast<double>(uncovered) / static_cast<double>(transfers) : 0;
  }
};

// The processes with kernels or transfers, in the order of drawing.
std::vector<RankOverlap> overlap_of(const EventStore& store);
// The judge's bubble: 1 minus the mean over the ranks of the share of `whole` in which kernels run.
double bubble_of(const std::vector<RankOverlap>& ranks, Time whole);
// The duration that the trace states (virtual_time_us), else the time from its first event to its last.
Time whole_of(const EventStore& store);

}  // namespace ridge::viz::timeline
