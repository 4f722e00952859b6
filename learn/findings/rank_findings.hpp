// What the timelines of several ranks say about the order of their work.
#pragma once
#include <string>
#include <vector>

#include "grader/result/report.hpp"

namespace ridge::loop {

// A sentence about what was seen, and advice; both empty where nothing was seen.
struct RankFinding {
  std::string fact, advice;
};

// No two ranks compute at the same time.
RankFinding one_rank_at_a_time(const std::vector<Timeline>& ranks);

// The step that begins latest after the neighbour's step that it needs, while its rank is idle. A step is a range of
// NVTX: "forward K" or "backward K", with chunks "forward K chunk C".
RankFinding late_step(const std::vector<Timeline>& ranks);

// The message that could begin earlier beside kernels, if the host issued it before another one of its stream.
RankFinding message_behind_another(const std::vector<Timeline>& ranks);

// Several messages of one kind that all begin behind the last kernel.
RankFinding messages_behind_all_kernels(const std::vector<Timeline>& ranks);

}  // namespace ridge::loop
