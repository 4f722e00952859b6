#include "timeline/reader/arrange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "timeline/store/levels.hpp"

namespace ridge::viz::timeline {
namespace {

using Indices = std::vector<std::uint32_t>;

template <typename T>
void permute(std::vector<T>& values, const Indices& order) {
  std::vector<T> sorted(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
  values.swap(sorted);
}

// Compares numbers by value and other texts alphabetically; numbers come first.
bool natural_less(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view t) { return !t.empty() && t.find_first_not_of("0123456789") == t.npos; };
  if (number(a) && number(b)) return a.size() != b.size() ? a.size() < b.size() : a < b;
  if (number(a) != number(b)) return number(a);
  return a < b;
}

// The order that the file gives by sort_index comes first, then the natural order of the ids.
template <typename Track>
bool drawn_before(const Track& x, const Track& y, std::string_view x_id, std::string_view y_id) {
  if (x.sorted != y.sorted) return x.sorted;
  if (x.sorted && x.sort != y.sort) return x.sort < y.sort;
  return natural_less(x_id, y_id);
}

// Puts processes and lanes in the order of drawing and renumbers what points to them.
void sort_lanes(RawTrace& raw) {
  EventStore& s = raw.store;
  Indices processes(s.processes.size());
  std::iota(processes.begin(), processes.end(), 0);
  std::stable_sort(processes.begin(), processes.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Process &x = s.processes[a], &y = s.processes[b];
    const auto rank = [&](const Process& p) { return s.files.size() > 1 ? s.files[p.file].rank : -1; };
    if (rank(x) != rank(y)) return rank(x) < rank(y);
    if (s.files.size() > 1 && x.file != y.file) return x.file < y.file;
    return drawn_before(x, y, s.strings[x.pid], s.strings[y.pid]);
  });
  Indices place(processes.size());
  for (std::uint32_t i = 0; i < processes.size(); ++i) place[processes[i]] = i;
  permute(s.processes, processes);
  for (Lane& l : s.lanes) l.process = place[l.process];
  for (Counter& c : s.counters) c.process = place[c.process];

  Indices lanes(s.lanes.size());
  std::iota(lanes.begin(), lanes.end(), 0);
  std::stable_sort(lanes.begin(), lanes.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Lane &x = s.lanes[a], &y = s.lanes[b];
    if (x.process != y.process) return x.process < y.process;
    if (x.async != y.async) return y.async;
    return drawn_before(x, y, s.strings[x.tid], s.strings[y.tid]);
  });
  place.assign(lanes.size(), 0);
  for (std::uint32_t i = 0; i < lanes.size(); ++i) place[lanes[i]] = i;
  permute(s.lanes, lanes);
  for (std::uint32_t& l : raw.lane) l = place[l];
  for (RawArrow& a : raw.arrows) a.lane = place[a.lane];
}

// Writers round begin and duration separately, to a nanosecond or less. Neighbours that overlap by no more than that
// are taken as consecutive, and the first is shortened.
constexpr Time kRounding = 1000;  // ps

// Assigns a row to each event of one lane and returns the number of rows. order[first, last) is sorted by begin, the
// longest first.
std::uint32_t nest(EventStore& s, const Indices& order, std::size_t first, std::size_t last,
                   std::vector<std::uint16_t>& row_of, std::uint64_t& too_deep) {
  std::vector<Time> ends;  // the end of the latest event in each row
  Indices latest;          // that event
  std::size_t active = 0;  // all events in rows from here on have ended
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t e = order[i];
    const Time begin = s.begin[e], end = s.end(e);
    while (active > 0 && ends[active - 1] <= begin) --active;
    for (std::size_t d = 0; d < active; ++d)
      if (const Time over = ends[d] - begin; over > 0 && over <= kRounding && end > ends[d] &&
                                             s.duration[latest[d]] > 2 * over && s.duration[e] > 2 * over) {
        s.duration[latest[d]] -= over;
        ends[d] = begin;
      }
    // The event goes below the deepest event that contains it, into the first free row.
    std::size_t row = 0;
    for (std::size_t d = active; d-- > 0;)
      if (ends[d] > begin && ends[d] >= end) {
        row = d + 1;
        break;
      }
    while (row < active && ends[row] > begin) ++row;
    if (row >= kMostRows) row = kMostRows - 1, ++too_deep;
    if (row >= ends.size()) ends.resize(row + 1, begin), latest.resize(row + 1, e);
    if (end >= ends[row]) ends[row] = end, latest[row] = e;
    active = std::max(active, row + 1);
    row_of[e] = static_cast<std::uint16_t>(row);
  }
  return static_cast<std::uint32_t>(ends.size());
}

void make_rows(RawTrace& raw) {
  EventStore& s = raw.store;
  const std::size_t n = s.size();
  // Sort by lane, then by begin.
  std::vector<std::size_t> starts(s.lanes.size() + 1, 0);
  for (std::uint32_t l : raw.lane) ++starts[l + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  Indices order(n);
  {
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order[next[raw.lane[i]]++] = static_cast<std::uint32_t>(i);
  }
  raw.lane = {};
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(s.begin[a], -s.duration[a], a) < std::tuple(s.begin[b], -s.duration[b], b);
  };
  std::vector<std::uint16_t> row_of(n);
  Indices sorted(n);
  for (std::uint32_t l = 0; l < s.lanes.size(); ++l) {
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(starts[l]),
               to = order.begin() + static_cast<std::ptrdiff_t>(starts[l + 1]);
    if (!std::is_sorted(from, to, earlier)) std::sort(from, to, earlier);
    Lane& lane = s.lanes[l];
    lane.first_row = static_cast<std::uint32_t>(s.rows.size());
    lane.rows = nest(s, order, starts[l], starts[l + 1], row_of, raw.count(Trouble::too_deep));
    // Sort stably by row.
    std::vector<std::size_t> next(lane.rows + 1, 0);
    for (auto i = from; i != to; ++i) ++next[row_of[*i] + 1U];
    for (std::uint32_t r = 0; r < lane.rows; ++r) {
      const auto count = next[r + 1];
      next[r + 1] += next[r];
      const auto first = static_cast<std::uint32_t>(starts[l] + next[r]);
      s.rows.push_back({l, first, static_cast<std::uint32_t>(first + count), 0});
    }
    for (auto i = from; i != to; ++i) sorted[starts[l] + next[row_of[*i]]++] = *i;
  }
  row_of = {};
  order = {};
  permute(s.begin, sorted);
  permute(s.duration, sorted);
  permute(s.name, sorted);
  permute(s.category, sorted);
  permute(s.offset_low, sorted);
  permute(s.offset_high, sorted);
  const bool joined =
      std::any_of(raw.arrows.begin(), raw.arrows.end(), [](const RawArrow& a) { return a.event != kNone; });
  if (!s.details.empty() || joined) {
    Indices place(n);
    for (std::uint32_t i = 0; i < n; ++i) place[sorted[i]] = i;
    sorted = {};
    for (Detail& d : s.details) d.event = place[d.event];
    for (RawArrow& a : raw.arrows)
      if (a.event != kNone) a.event = place[a.event];
    std::sort(s.details.begin(), s.details.end(), [](const Detail& a, const Detail& b) { return a.event < b.event; });
    s.details.shrink_to_fit();
  }
}

// The deepest event of the lane at this time (with `enclosing`) or the next one, whichever exists; else kNone.
std::uint32_t event_at(const EventStore& s, const Lane& lane, Time at, bool enclosing) {
  std::uint32_t found = kNone, next = kNone;
  for (std::uint32_t r = lane.first_row; r < lane.first_row + lane.rows; ++r) {
    const Row& row = s.rows[r];
    const std::uint32_t after = first_beginning_after(s, row, at);
    if (after > row.first && s.end(after - 1) >= at) found = after - 1;
    const std::uint32_t from = after > row.first && s.begin[after - 1] == at ? after - 1 : after;
    if (from < row.last && (next == kNone || s.begin[from] < s.begin[next])) next = from;
  }
  if (!enclosing) return next != kNone ? next : found;
  return found != kNone ? found : next;
}

void join_arrows(RawTrace& raw) {
  EventStore& s = raw.store;
  auto& points = raw.arrows;
  const auto order = [](char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; };
  std::stable_sort(points.begin(), points.end(), [&](const RawArrow& a, const RawArrow& b) {
    return std::tuple(a.id, a.at, order(a.phase)) < std::tuple(b.id, b.at, order(b.phase));
  });
  const RawArrow* from = nullptr;
  bool used = true;
  const auto resolve = [&](const RawArrow& a) {
    return a.event != kNone ? a.event : event_at(s, s.lanes[a.lane], a.at, a.enclosing);
  };
  for (const RawArrow& a : points) {
    if (from && from->id != a.id) {
      raw.count(Trouble::loose_arrow) += used ? 0 : 1;
      from = nullptr;
    }
    if (a.phase != 's') {
      if (from) {
        s.arrows.push_back({from->at, a.at, resolve(*from), resolve(a)});
        used = true;
      } else {
        ++raw.count(Trouble::loose_arrow);
      }
    }
    if (a.phase == 'f') {
      from = used ? nullptr : from;
    } else {
      if (from && !used && a.phase == 's') ++raw.count(Trouble::loose_arrow);
      from = &a;
      used = a.phase == 't';
    }
  }
  if (from && !used) ++raw.count(Trouble::loose_arrow);
  points = {};
  std::sort(s.arrows.begin(), s.arrows.end(), [](const Arrow& a, const Arrow& b) {
    return std::tuple(a.from_time, a.to_time) < std::tuple(b.from_time, b.to_time);
  });
  s.arrows.shrink_to_fit();
}

void say_troubles(RawTrace& raw) {
  static constexpr std::array<const char*, static_cast<std::size_t>(Trouble::kCount)> kTexts{
      "{} events without a time that is a number: dropped",
      "{} events (X) without a duration: shown as instants",
      "{} durations were negative: shown as instants",
      "{} times lie more than 46 days from the first event: clamped",
      "{} ends (E) without their begin: dropped",
      "{} begins (B) without their end: they last until the trace's end",
      "{} events of phases that are not drawn: dropped",
      "{} elements of traceEvents are no objects: dropped",
      "{} counter values are no numbers: dropped",
      "{} ends of arrows have no other end: dropped",
      "{} events are on threads beyond the first 100000: drawn in the last one",
      "{} categories are beyond the first 65000: counted as the first",
      "{} events overlap more than 512 deep: they share a row",
      "{} events are beyond the first 400 million: dropped"};
  for (std::size_t i = 0; i < kTexts.size(); ++i)
    if (raw.troubles[i] > 0) raw.store.notes.push_back(fmt::format(fmt::runtime(kTexts[i]), raw.troubles[i]));
  for (const SourceFile& f : raw.store.files)
    if (const auto left = f.about.find("left_out"); left != f.about.end() && left->second != "0")
      raw.store.notes.push_back(
          fmt::format("{}: its writer left out {} events", f.path.filename().string(), left->second));
}

}  // namespace

EventStore arrange(RawTrace raw) {
  EventStore& s = raw.store;
  sort_lanes(raw);
  make_rows(raw);
  join_arrows(raw);
  build_levels(s);
  for (Counter& c : s.counters) {
    Indices order(c.at.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return c.at[a] < c.at[b]; });
    permute(c.at, order);
    permute(c.value, order);
  }
  bool any = false;
  const auto reach = [&](Time from, Time to) {
    s.first = any ? std::min(s.first, from) : from;
    s.last = any ? std::max(s.last, to) : to;
    any = true;
  };
  for (std::size_t i = 0; i < s.size(); ++i) reach(s.begin[i], s.end(i));
  for (const Counter& c : s.counters)
    if (!c.at.empty()) reach(c.at.front(), c.at.back());
  for (Process& p : s.processes) {
    p.rank = s.files[p.file].rank;
    const auto at = p.name.find("rank ");
    if (p.rank < 0 && at != p.name.npos) p.rank = std::atoi(p.name.c_str() + at + 5);
  }
  say_troubles(raw);
  s.strings.seal();
  return std::move(raw.store);
}

}  // namespace ridge::viz::timeline
