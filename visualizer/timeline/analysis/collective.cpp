#include "timeline/analysis/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

namespace ridge::viz::timeline {

constexpr const char* kOfEmulator = "the emulated links' own values; a call of NCCL adds its start";

std::optional<AlphaBeta> fit_alpha_beta(const std::vector<std::pair<double, double>>& sends) {
  std::map<double, double> fastest;
  for (const auto& [bytes, time] : sends)
    if (bytes > 0 && time > 0) {
      auto [at, fresh] = fastest.try_emplace(bytes, time);
      at->second = std::min(at->second, time);
    }
  if (fastest.empty()) return {};
  AlphaBeta m;
  if (fastest.size() == 1) {
    const auto& [bytes, time] = *fastest.begin();
    m.beta = bytes / time;
    m.source = fmt::format("the fastest of {} sends, all of one size: alpha cannot be told from it and counts as 0",
                           sends.size());
    return m;
  }
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [bytes, time] : fastest) n += 1, x += bytes, y += time, xx += bytes * bytes, xy += bytes * time;
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  m.alpha = std::max(0.0, (y - slope * x) / n);
  m.beta = slope > 0 ? 1 / slope : x / y;
  if (m.alpha == 0) m.beta = x / y;
  m.source = fmt::format("fitted to the fastest send of each of {} sizes in this trace", fastest.size());
  return m;
}

std::optional<AlphaBeta> known_alpha_beta(const EventStore& s) {
  if (s.files.size() != 1) return {};
  const auto number = [&](const char* name) {
    const auto at = s.files[0].about.find(name);
    return at == s.files[0].about.end() ? 0 : std::strtod(at->second.c_str(), nullptr);
  };
  const AlphaBeta m{number("link_latency_us") * 1e-6, number("link_bytes_per_second"), kOfEmulator};
  if (!(m.beta > 0) || !(m.alpha >= 0) || !std::isfinite(m.beta) || !std::isfinite(m.alpha)) return {};
  return m;
}

namespace {
// The kinds of links that sends take, the fastest first. Empty where the trace does not tell each send's.
std::vector<AlphaBeta> links_of(const std::vector<RingStep>& steps) {
  std::map<std::pair<double, double>, AlphaBeta> kinds;
  for (const RingStep& s : steps) {
    if (!(s.beta > 0)) return {};
    kinds[{-s.beta, s.alpha}] = {s.alpha, s.beta, kOfEmulator};
  }
  std::vector<AlphaBeta> all;
  for (const auto& [key, link] : kinds) all.push_back(link);
  return all;
}
}  // namespace

std::optional<Collective> collective_of(const EventStore& s) {
  Collective c;
  Kinds kinds(s);
  std::vector<std::vector<RingStep>> by_process(s.processes.size());
  for (const Detail& d : s.details) {
    if (d.bytes <= 0 || kinds(d.event) != Kind::communication) continue;
    RingStep step;
    step.event = d.event;
    step.step = d.step, step.chunk = d.chunk, step.peer = d.peer, step.phase = d.phase;
    step.bytes = d.bytes;
    if (d.latency >= 0 && d.bandwidth > 0) step.alpha = d.latency, step.beta = d.bandwidth;
    step.begin = s.begin[d.event], step.end = s.end(d.event);
    by_process[s.lanes[s.rows[s.row_of(d.event)].lane].process].push_back(step);
  }
  for (std::uint32_t p = 0; p < by_process.size(); ++p)
    if (!by_process[p].empty()) c.processes.push_back(p);
  const auto ranks = static_cast<int>(c.processes.size());
  if (ranks < 2) return {};
  bool inferred = false;
  std::vector<std::pair<double, double>> sends;
  for (int r = 0; r < ranks; ++r) {
    auto& steps = by_process[c.processes[static_cast<std::size_t>(r)]];
    std::sort(steps.begin(), steps.end(), [](const RingStep& a, const RingStep& b) {
      return std::tuple(a.begin, a.event) < std::tuple(b.begin, b.event);
    });
    const bool said = steps.front().step >= 0;
    const bool ring = static_cast<int>(steps.size()) == 2 * (ranks - 1);
    for (int k = 0; k < static_cast<int>(steps.size()); ++k) {
      RingStep& step = steps[static_cast<std::size_t>(k)];
      step.place = static_cast<std::uint32_t>(r);
      if (!said && ring) {  // reduce-scatter sends chunk r - s in step s; the all-gather, r + 1 - s
        const bool gathers = k >= ranks - 1;
        const int t = gathers ? k - (ranks - 1) : k;
        step.phase = gathers ? Phase::all_gather : Phase::reduce_scatter;
        step.chunk = ((r - t + (gathers ? 1 : 0)) % ranks + ranks) % ranks;
        inferred = true;
      }
      step.step = k;  // numbered over both phases
      sends.emplace_back(step.bytes, seconds(step.end - step.begin));
    }
    c.most_steps = std::max(c.most_steps, static_cast<int>(steps.size()));
    c.steps.insert(c.steps.end(), steps.begin(), steps.end());
  }
  if (inferred) c.note = "chunks and phases follow from the order of the sends, as in a ring";
  c.model = known_alpha_beta(s);
  if (!c.model) c.links = links_of(c.steps);
  if (c.links.size() == 1) c.model = c.links[0], c.links.clear();
  if (!c.model && c.links.empty()) c.model = fit_alpha_beta(sends);
  if (!c.model && c.links.empty()) return c;
  Time start = c.steps.front().begin;
  for (const RingStep& step : c.steps) start = std::min(start, step.begin);
  std::vector<Time> now(c.processes.size(), start);
  for (RingStep step : c.steps) {
    step.begin = now[step.place];
    step.end = now[step.place] += std::max<Time>(
        1, static_cast<Time>((c.model ? *c.model : AlphaBeta{step.alpha, step.beta, ""}).of(step.bytes) * 1e12));
    c.ideal.push_back(step);
  }
  return c;
}

}  // namespace ridge::viz::timeline
