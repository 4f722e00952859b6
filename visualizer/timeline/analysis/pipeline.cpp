#include "timeline/analysis/pipeline.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace ridge::viz::timeline {
namespace {

struct Said {
  bool any = false, forward = true;
  int micro_batch = -1, chunk = 0;
};

// "forward 3", "Backward_12", "F3": the direction, then a number.
Said said_by_name(std::string_view name) {
  Said said;
  std::size_t at = name.npos;
  for (const auto& [word, forward] : {std::pair{"orward", true}, std::pair{"ackward", false}})
    if (const auto found = name.find(word); found != name.npos && at == name.npos)
      at = found + std::string_view(word).size(), said.forward = forward;
  if (at == name.npos && name.size() >= 2 && (name[0] == 'F' || name[0] == 'B')) {
    at = 1;
    said.forward = name[0] == 'F';
  }
  if (at == name.npos) return said;
  while (at < name.size() && (name[at] == ' ' || name[at] == '_' || name[at] == '-')) ++at;
  int value = 0;
  const std::size_t digits = at;
  for (; at < name.size() && at - digits < 5 && std::isdigit(static_cast<unsigned char>(name[at])); ++at)
    value = value * 10 + (name[at] - '0');
  said.any = at > digits && at == name.size();
  said.micro_batch = value;
  return said;
}

Time median(std::vector<Time> v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Plays each rank's steps in its order: a forward waits for the rank before it, a backward for the one behind.
void play(Pipeline& p) {
  using Key = std::tuple<std::uint32_t, bool, int, int>;  // place, forward, chunk, micro-batch
  const auto ranks = static_cast<std::uint32_t>(p.processes.size());
  std::map<std::pair<std::uint32_t, bool>, std::vector<Time>> lengths;
  for (const PipelineStep& s : p.steps) lengths[{s.place, s.forward}].push_back(s.end - s.begin);
  std::map<std::pair<std::uint32_t, bool>, Time> typical;
  for (auto& [key, all] : lengths) typical[key] = median(all);
  Time start = p.steps.front().begin, work = 0;
  std::vector<std::vector<std::size_t>> order(ranks);
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    order[p.steps[i].place].push_back(i);
    start = std::min(start, p.steps[i].begin);
  }
  std::map<Key, Time> ended;
  std::map<Key, bool> exists;
  for (const PipelineStep& s : p.steps) exists[{s.place, s.forward, s.chunk, s.micro_batch}] = true;
  p.ideal = p.steps;
  std::vector<std::size_t> next(ranks, 0);
  std::vector<Time> now(ranks, start);
  Time end = start;
  const auto run = [&](std::uint32_t r, Time ready) {
    PipelineStep& s = p.ideal[order[r][next[r]++]];
    const Time length = typical[{r, s.forward}];
    s.begin = std::max(now[r], ready);
    s.end = now[r] = s.begin + length;
    work += length;
    end = std::max(end, s.end);
    ended[{r, s.forward, s.chunk, s.micro_batch}] = s.end;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t r = 0; r < ranks; ++r)
      while (next[r] < order[r].size()) {
        const PipelineStep& s = p.steps[order[r][next[r]]];
        Key needs;
        if (s.forward)
          needs = {(r + ranks - 1) % ranks, true, r == 0 ? s.chunk - 1 : s.chunk, s.micro_batch};
        else
          needs = {(r + 1) % ranks, false, r + 1 == ranks ? s.chunk + 1 : s.chunk, s.micro_batch};
        Time ready = start;
        if (exists.count(needs)) {
          const auto at = ended.find(needs);
          if (at == ended.end()) break;
          ready = at->second;
        }
        run(r, ready);
        moved = true;
      }
  }
  for (std::uint32_t r = 0; r < ranks; ++r)
    if (next[r] < order[r].size()) {
      p.note = "the steps of the ranks do not fit together: no ideal schedule";
      p.ideal.clear();
      return;
    }
  p.ideal_whole = end - start;
  p.ideal_bubble = p.ideal_whole > 0 ? 1 - static_cast<double>(work) / (static_cast<double>(p.ideal_whole) * ranks) : 0;
}

}  // namespace

std::optional<Pipeline> pipeline_of(const EventStore& s) {
  Pipeline p;
  Kinds kinds(s);
  std::vector<std::int8_t> named(s.strings.size(), -1);  // 1: its name says; 0: it does not
  std::vector<std::vector<PipelineStep>> by_process(s.processes.size());
  std::size_t steps = 0;
  constexpr std::size_t kMostSteps = 200000;
  for (std::uint32_t l = 0; l < s.lanes.size() && steps < kMostSteps; ++l) {
    const Lane& lane = s.lanes[l];
    auto& all = by_process[lane.process];
    const std::size_t before = all.size();
    for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.rows; ++r)
      for (std::uint32_t e = s.rows[r].first; e < s.rows[r].last && steps < kMostSteps; ++e) {
        Said said;
        if (const Detail* d = s.details.empty() ? nullptr : s.detail(e);
            d && d->direction != Direction::none && d->micro_batch >= 0)
          said = {true, d->direction == Direction::forward, d->micro_batch, std::max<int>(d->chunk, 0)};
        else if (named[s.name[e]] != 0)
          said = said_by_name(s.name_of(e)), named[s.name[e]] = said.any;
        if (!said.any) continue;
        if (const Kind kind = kinds(e); kind == Kind::communication || kind == Kind::host) continue;
        const bool same = all.size() > before && all.back().forward == said.forward &&
                          all.back().micro_batch == said.micro_batch && all.back().chunk == said.chunk;
        if (same) {
          all.back().end = std::max(all.back().end, s.end(e));
          ++all.back().events;
        } else {
          all.push_back({0, said.micro_batch, said.chunk, said.forward, s.begin[e], s.end(e), e, 1});
          ++steps;
        }
        p.micro_batches = std::max(p.micro_batches, said.micro_batch + 1);
        p.chunks = std::max(p.chunks, said.chunk + 1);
      }
  }
  for (std::uint32_t i = 0; i < by_process.size(); ++i) {
    auto& all = by_process[i];
    if (all.empty()) continue;
    std::stable_sort(all.begin(), all.end(),
                     [](const PipelineStep& a, const PipelineStep& b) { return a.begin < b.begin; });
    for (PipelineStep& step : all) step.place = static_cast<std::uint32_t>(p.processes.size());
    p.processes.push_back(i);
    p.steps.insert(p.steps.end(), all.begin(), all.end());
  }
  if (p.processes.size() < 2) return {};
  p.whole = whole_of(s);
  std::vector<RankOverlap> ranks = overlap_of(s);
  std::erase_if(ranks, [&](const RankOverlap& r) {
    return std::find(p.processes.begin(), p.processes.end(), r.process) == p.processes.end();
  });
  if (ranks.empty()) {  // categories that say nothing: the steps themselves
    Time busy = 0;
    for (const PipelineStep& step : p.steps) busy += step.end - step.begin;
    p.bubble = 1 - static_cast<double>(busy) / (static_cast<double>(p.whole) * static_cast<double>(p.processes.size()));
  } else {
    p.bubble = bubble_of(ranks, p.whole);
  }
  play(p);
  return p;
}

}  // namespace ridge::viz::timeline
