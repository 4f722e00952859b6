#include "timeline/analysis/overlap.hpp"

#include <cstdlib>

namespace ridge::viz::timeline {

std::vector<RankOverlap> overlap_of(const EventStore& s) {
  std::vector<RankOverlap> all;
  Kinds kinds(s);
  for (std::uint32_t l = 0; l < s.lanes.size(); ++l) {
    const Lane& lane = s.lanes[l];
    if (all.empty() || all.back().process != lane.process) {
      RankOverlap r;
      r.process = lane.process;
      r.rank = s.rank_of(s.processes[lane.process]);
      all.push_back(std::move(r));
    }
    for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.rows; ++r)
      for (std::uint32_t e = s.rows[r].first; e < s.rows[r].last; ++e) {
        const Kind kind = kinds(e);
        if (kind != Kind::compute && kind != Kind::communication) continue;
        Spans& spans = kind == Kind::compute ? all.back().compute : all.back().communication;
        // Events that touch the span before extend it, which keeps the list short.
        if (!spans.empty() && s.begin[e] >= spans.back().first && s.begin[e] <= spans.back().second)
          spans.back().second = std::max(spans.back().second, s.end(e));
        else
          spans.emplace_back(s.begin[e], s.end(e));
      }
  }
  std::erase_if(all, [](const RankOverlap& r) { return r.compute.empty() && r.communication.empty(); });
  for (RankOverlap& r : all) {
    merge(r.compute);
    merge(r.communication);
    r.exposed = without(r.communication, r.compute);
    r.busy = length(r.compute), r.transfers = length(r.communication), r.uncovered = length(r.exposed);
  }
  return all;
}

double bubble_of(const std::vector<RankOverlap>& ranks, Time whole) {
  double work = 0;
  for (const RankOverlap& r : ranks)
    work += static_cast<double>(r.busy) / static_cast<double>(std::max<Time>(whole, 1));
  return ranks.empty() ? 0 : 1 - work / static_cast<double>(ranks.size());
}

Time whole_of(const EventStore& s) {
  if (s.files.size() == 1)
    if (const auto at = s.files[0].about.find("virtual_time_us"); at != s.files[0].about.end())
      if (const double us = std::strtod(at->second.c_str(), nullptr); us > 0 && us < 1e12)
        return static_cast<Time>(us * 1e6);
  return s.last - s.first;
}

}  // namespace ridge::viz::timeline
