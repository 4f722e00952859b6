// What timelines say of messages that nothing hides.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/result/report.hpp"
#include "learn/findings/rank_findings.hpp"

namespace ridge::loop {

// The operation of which the most is not hidden by another kind, and how long that is.
struct Exposed {
  const Timeline::Item* item = nullptr;
  const Timeline* on = nullptr;
  std::size_t rank = 0;
  double seconds = 0;
};
Exposed longest_exposed(const std::vector<Timeline>& ranks, std::string_view only);

// Kernels that access no global memory, and so do nothing for the task: their names; in words; and the timelines in
// which they take no time and hide nothing.
std::set<std::string> idle_kernels(const TaskResult& task);
std::string idle_in_words(const std::vector<Timeline>& ranks, const std::set<std::string>& idle);
std::vector<Timeline> without(std::vector<Timeline> ranks, const std::set<std::string>& idle);

// The calls that are exposed as long as the longest, in its stream: which of them could be hidden depends on what the
// kernels behind them read. Empty where it is the only one, or no kernel is behind.
RankFinding equal_messages(const Exposed& longest, bool of_ranks);

// Three or more collectives that take their time in latency. Empty where there are fewer.
RankFinding many_latencies(const Exposed& longest);

}  // namespace ridge::loop
