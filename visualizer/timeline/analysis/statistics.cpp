#include "timeline/analysis/statistics.hpp"

#include <algorithm>
#include <unordered_map>

#include "timeline/store/levels.hpp"

namespace ridge::viz::timeline {

RangeStatistics statistics_of(const EventStore& s, Time from, Time to, const std::vector<std::uint32_t>& lanes) {
  constexpr std::uint64_t kMost = 20'000'000;
  RangeStatistics out;
  out.from = from, out.to = to;
  struct Sum {
    std::uint64_t count = 0;
    Time busy = 0;
  };
  std::unordered_map<std::uint32_t, Sum> names;
  std::vector<Sum> categories(s.categories.size());
  Spans moving;
  for (std::uint32_t r = 0; r < s.rows.size(); ++r) {
    const Row& row = s.rows[r];
    if (!lanes.empty() && std::find(lanes.begin(), lanes.end(), row.lane) == lanes.end()) continue;
    const bool outermost = s.lanes[row.lane].first_row == r;
    std::uint32_t e = first_ending_after(s, row, from, row.first);
    while (e > row.first && s.begin[e - 1] >= from) --e;  // include instants at the very start
    for (; e < row.last && s.begin[e] < to; ++e) {
      if (++out.events > kMost) {
        out.cut = true;
        break;
      }
      const Time busy = std::max<Time>(0, std::min(s.end(e), to) - std::max(s.begin[e], from));
      auto& n = names[s.name[e]];
      ++n.count, n.busy += busy;
      auto& c = categories[s.category[e]];
      ++c.count, c.busy += busy;
      if (outermost) out.busy += busy;
      if (s.details.empty()) continue;
      if (const Detail* d = s.detail(e); d && d->bytes > 0) {
        const double part = s.duration[e] > 0 ? static_cast<double>(busy) / static_cast<double>(s.duration[e]) : 1;
        out.bytes += d->bytes * part;
        moving.emplace_back(std::max(s.begin[e], from), std::min(s.end(e), to));
      }
    }
  }
  merge(moving);
  out.moving = length(moving);
  const auto larger = [](const Share& a, const Share& b) {
    return a.busy != b.busy ? a.busy > b.busy : a.count > b.count;
  };
  for (const auto& [id, sum] : names) out.names.push_back({std::string(s.strings[id]), sum.count, sum.busy});
  const std::size_t most = std::min<std::size_t>(out.names.size(), 12);
  std::partial_sort(out.names.begin(), out.names.begin() + static_cast<std::ptrdiff_t>(most), out.names.end(), larger);
  out.names.resize(most);
  for (std::size_t i = 0; i < categories.size(); ++i)
    if (categories[i].count > 0)
      out.categories.push_back({std::string(s.strings[s.categories[i]]), categories[i].count, categories[i].busy});
  std::sort(out.categories.begin(), out.categories.end(), larger);
  return out;
}

Found search(const EventStore& s, std::string_view text, std::size_t most) {
  Found out;
  if (text.empty()) return out;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::vector<bool> hit(s.strings.size());
  for (std::uint32_t i = 0; i < s.strings.size(); ++i) {
    const auto name = s.strings[i];
    hit[i] = std::search(name.begin(), name.end(), text.begin(), text.end(),
                         [&](char a, char b) { return lower(a) == lower(b); }) != name.end();
  }
  for (std::uint32_t e = 0; e < s.size(); ++e)
    if (hit[s.name[e]]) {
      ++out.count;
      if (out.events.size() < most) out.events.push_back(e);
    }
  std::sort(out.events.begin(), out.events.end(), [&](std::uint32_t a, std::uint32_t b) {
    return s.begin[a] != s.begin[b] ? s.begin[a] < s.begin[b] : a < b;
  });
  return out;
}

}  // namespace ridge::viz::timeline
