// How much of each rank's communication its own kernels cover, and how much stands exposed.
#pragma once
#include "timeline/analysis/kinds.hpp"

namespace ridge::viz::timeline {

struct RankOverlap {
  std::uint32_t process = 0;
  int rank = 0;
  Spans compute, communication, exposed;  // exposed: communication while no kernel of this rank runs
  Time busy = 0, messages = 0, uncovered = 0;
  double exposed_share() const {
    return messages > 0 ? static_cast<double>(uncovered) / static_cast<double>(messages) : 0;
  }
};

// Of processes with kernels or messages, in the order of drawing.
std::vector<RankOverlap> overlap_of(const EventStore& store);
// Time without any kernel over all: 1 - the ranks' mean share of kernels, from the start to `end`. The judge's bubble.
double bubble_of(const std::vector<RankOverlap>& ranks, Time whole);
// What a trace says it took (virtual_time_us), else from its first event to its last.
Time whole_of(const EventStore& store);

}  // namespace ridge::viz::timeline
