#include "timeline/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "timeline/store/levels.hpp"

namespace ridge::viz::timeline {

Trace make_trace(std::shared_ptr<const EventStore> store) {
  Trace t;
  const EventStore& s = *store;
  t.overlap = overlap_of(s);
  t.collective = collective_of(s);
  t.pipeline = pipeline_of(s);

  std::vector<std::array<std::uint64_t, 5>> kinds(s.categories.size());
  std::vector<Time> busy(s.categories.size(), 0);
  Kinds kind(s);
  for (std::size_t e = 0; e < s.size(); ++e) {
    ++kinds[s.category[e]][static_cast<std::size_t>(kind(e))];
    busy[s.category[e]] += s.duration[e];
  }
  for (const auto& counts : kinds)
    t.kind_of_category.push_back(static_cast<Kind>(std::max_element(counts.begin(), counts.end()) - counts.begin()));
  t.categories.resize(s.categories.size());
  std::iota(t.categories.begin(), t.categories.end(), std::uint16_t{0});
  std::sort(t.categories.begin(), t.categories.end(), [&](std::uint16_t a, std::uint16_t b) {
    const Kind x = t.kind_of_category[a], y = t.kind_of_category[b];
    return x != y ? x < y : busy[a] > busy[b];
  });

  constexpr int kPixels = 600;
  t.minimap.resize(kPixels);
  std::array<int, 3> lanes{};
  const Time all = std::max<Time>(s.last - s.first, kPixels);
  std::size_t budget = 200000;  // most queries; of very many lanes, only the first are summarised
  for (std::uint32_t l = 0; l < s.lanes.size() && budget > kPixels; ++l, budget -= kPixels) {
    if (s.lanes[l].rows == 0) continue;
    const Row& row = s.rows[s.lanes[l].first_row];
    const Kind first = row.first < row.last ? kind(row.first) : Kind::other;
    const int part = first == Kind::compute ? 0 : first == Kind::communication ? 1 : 2;
    ++lanes[static_cast<std::size_t>(part)];
    std::uint32_t hint = row.first;
    for (int i = 0; i < kPixels; ++i) {
      const Time from = s.first + all / kPixels * i, to = from + all / kPixels;
      const Summary sum = summarise(s, row, from, to, hint);
      hint = sum.first;
      const auto share = static_cast<float>(static_cast<double>(sum.busy) / static_cast<double>(to - from));
      auto& g = t.minimap[static_cast<std::size_t>(i)];
      const Kind dominant = t.kind_of_category.empty() ? Kind::other : t.kind_of_category[sum.category];
      (dominant == Kind::compute ? g.compute : dominant == Kind::communication ? g.communication : g.other) += share;
    }
  }
  float most[3] = {1e-6F, 1e-6F, 1e-6F};
  for (const auto& g : t.minimap)
    most[0] = std::max(most[0], g.compute), most[1] = std::max(most[1], g.communication),
    most[2] = std::max(most[2], g.other);
  for (auto& g : t.minimap) g.compute /= most[0], g.communication /= most[1], g.other /= most[2];
  t.store = std::move(store);
  return t;
}

ImU32 colour_of(const Palette& c, Kind kind) {
  switch (kind) {
    case Kind::compute:
      return c.series[0];
    case Kind::communication:
      return c.series[1];
    case Kind::copy:
      return c.series[2];
    case Kind::host:
      return mixed(c.muted, c.paper, 0.45F);
    case Kind::other:
      return c.series[3];
  }
  return c.muted;
}

ImU32 colour_of(const Palette& c, const Trace& trace, std::uint16_t category) {
  const Kind kind = trace.kind_of_category[category];
  // The second and later categories of a kind are paler.
  int before = 0;
  for (const std::uint16_t other : trace.categories) {
    if (other == category) break;
    before += trace.kind_of_category[other] == kind;
  }
  const ImU32 base = kind == Kind::other ? c.of(3 + static_cast<std::size_t>(before) % 3) : colour_of(c, kind);
  return mixed(base, c.paper, std::min(0.22F * static_cast<float>(kind == Kind::other ? before / 3 : before), 0.6F));
}

ImU32 colour_of_micro_batch(const Palette& c, int micro_batch) {
  const auto i = static_cast<std::size_t>(std::max(micro_batch, 0));
  static constexpr std::array<std::size_t, 5> kOrder{0, 1, 2, 3, 5};  // without the colour that resembles ink
  const ImU32 base = c.series[kOrder[i % kOrder.size()]];
  return mixed(base, c.paper, 0.3F * static_cast<float>(i / kOrder.size() % 3));
}

ImU32 text_on(const Palette& c, ImU32 ground) {
  const auto channel = [](ImU32 v, int shift) { return static_cast<float>((v >> shift) & 0xFF) / 255; };
  const float light = 0.2126F * channel(ground, IM_COL32_R_SHIFT) + 0.7152F * channel(ground, IM_COL32_G_SHIFT) +
                      0.0722F * channel(ground, IM_COL32_B_SHIFT);
  (void)c;
  return light > 0.45F ? IM_COL32(0x14, 0x19, 0x20, 255) : IM_COL32(255, 255, 255, 255);
}

std::string name_of(const EventStore& s, std::uint32_t process) {
  const Process& p = s.processes[process];
  if (p.rank >= 0 && (p.name.find("rank ") != p.name.npos || p.name.empty())) return fmt::format("rank {}", p.rank);
  std::string name = p.name.empty() ? "process " + std::string(s.strings[p.pid]) : p.name;
  if (!p.labels.empty() && p.labels.size() < 40) name += ", " + p.labels;
  if (s.files.size() > 1 && s.files[p.file].rank >= 0) name = fmt::format("rank {}: {}", s.files[p.file].rank, name);
  return name;
}

std::string name_of_lane(const EventStore& s, std::uint32_t lane) {
  const Lane& l = s.lanes[lane];
  const std::string tid(s.strings[l.tid]);
  if (l.async) return "async " + tid;
  return !l.name.empty() ? l.name : tid.empty() ? "events" : "thread " + tid;
}

void place_tracks(const Trace& trace, const Choice& choice, const Theme& theme, Layout& layout) {
  const EventStore& s = *trace.store;
  using What = Track::What;
  layout.tracks.clear();
  layout.row = std::round(theme.px(choice.mode == Mode::events ? 24 : 30));
  layout.row_y.assign(choice.mode == Mode::events ? s.rows.size() : 0, -1);
  float y = layout.lanes.from.y - choice.scroll + theme.px(6);
  const float top = y, gap = theme.px(5);
  const auto add = [&](What what, std::uint32_t index, float height, float after) {
    layout.tracks.push_back({what, index, y, y + height});
    y += height + after;
  };
  const float header = std::round(theme.px(34));
  if (choice.mode == Mode::events) {
    std::uint32_t process = kNone;
    std::size_t counter = 0;
    const auto counters_of = [&](std::uint32_t of) {
      for (counter = 0; counter < s.counters.size(); ++counter)
        if (s.counters[counter].process == of)
          add(What::counter, static_cast<std::uint32_t>(counter), layout.row * 1.8F, gap);
    };
    for (std::uint32_t l = 0; l < s.lanes.size(); ++l) {
      const Lane& lane = s.lanes[l];
      if (lane.rows == 0) continue;
      if (lane.process != process) {
        if (process != kNone && !choice.folded_processes.count(process)) counters_of(process);
        if (process != kNone) y += gap;
        process = lane.process;
        add(What::process, process, header, 0);
      }
      if (choice.folded_processes.count(process)) continue;
      const std::uint32_t rows = choice.folded_lanes.count(l) ? 1 : lane.rows;
      for (std::uint32_t r = 0; r < rows; ++r)
        layout.row_y[lane.first_row + r] = y + static_cast<float>(r) * layout.row;
      add(What::lane, l, static_cast<float>(rows) * layout.row, gap);
    }
    std::set<std::uint32_t> drawn;
    for (const Lane& lane : s.lanes)
      if (lane.rows > 0) drawn.insert(lane.process);
    if (process != kNone && !choice.folded_processes.count(process)) counters_of(process);
    for (std::uint32_t p = 0; p < s.processes.size(); ++p)
      if (!drawn.count(p)) counters_of(p);  // processes with counters alone
  }
  if (choice.mode == Mode::overlap)
    for (std::uint32_t r = 0; r < trace.overlap.size(); ++r) {
      add(What::process, trace.overlap[r].process, header, 0);
      add(What::overlap, r, 3 * layout.row, 2 * gap);
    }
  if (choice.mode == Mode::collective && trace.collective)
    for (std::uint32_t r = 0; r < trace.collective->processes.size(); ++r) {
      add(What::process, trace.collective->processes[r], header, 0);
      add(What::ring, r, layout.row * 1.35F, trace.collective->ideal.empty() ? 2 * gap : gap);
      if (!trace.collective->ideal.empty()) add(What::ring_model, r, layout.row * 0.9F, 2 * gap);
    }
  if (choice.mode == Mode::pipeline && trace.pipeline)
    for (std::uint32_t r = 0; r < trace.pipeline->processes.size(); ++r) {
      add(What::process, trace.pipeline->processes[r], header, 0);
      add(What::pipeline, r, layout.row * 1.35F, trace.pipeline->ideal.empty() ? 2 * gap : gap);
      if (!trace.pipeline->ideal.empty()) add(What::pipeline_ideal, r, layout.row * 0.9F, 2 * gap);
    }
  layout.content = y - top + theme.px(12);
}

}  // namespace ridge::viz::timeline
