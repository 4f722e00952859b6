#include "grader/judge/file_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace ridge {

namespace {

// Times pass through text with 12 digits.
double slack(double seconds) { return 1e-9 + 1e-9 * std::abs(seconds); }
bool before(double a, double b) { return a < b - slack(b); }

class Comparison {
 public:
  explicit Comparison(std::span<const PlacedPart> placed) : left_(placed.size()) {
    for (const PlacedPart& p : placed) placed_[p.number].push_back(p);
  }

  std::string take(const files::Charged& c) {
    if (c.is_wait) {
      known_ = std::max(known_, ends_[c.number]);
      return {};
    }
    double begin = known_, end = known_;
    for (int stage = 0; stage < 2; ++stage) {
      for (const files::Piece& p : c.pieces)
        if (p.stage == stage)
          if (std::string why = place(c.number, p.resource, p.seconds, begin, end); !why.empty()) return why;
      begin = end;
      if (stage == 0 && c.latency > 0)
        if (std::string why = place(c.number, files::kLatency, c.latency, begin, end); !why.empty()) return why;
      begin = end;
    }
    ends_[c.number] = end;
    if (c.waited) known_ = std::max(known_, end);
    return {};
  }
  std::size_t left() const { return left_; }

 private:
  // The part is there, and begins at `earliest` or later. Its end goes into `end`, if that is earlier.
  std::string place(std::uint64_t number, int resource, double seconds, double earliest, double& end) {
    std::vector<PlacedPart>& parts = placed_[number];
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const PlacedPart& p) {
      return p.resource == resource && std::abs(p.seconds - seconds) <= slack(seconds);
    });
    if (found == parts.end())
      return fmt::format("request {} occupies resource {} for {:.6g} s, and the timeline does not show it", number,
                         resource, seconds);
    const PlacedPart p = *found;
    parts.erase(found);
    --left_;
    if (std::abs(p.end - p.start - seconds) > slack(p.end))
      return fmt::format("request {} has {:.6g} s of resource {} in place of {:.6g}", number, p.end - p.start, resource,
                         seconds);
    if (before(p.start, earliest))
      return fmt::format("request {} begins at {:.9g} s, and what came before it ends at {:.9g} s", number, p.start,
                         earliest);
    if (resource != files::kLatency) {
      double& busy = busy_until_[resource];
      if (before(p.start, busy))
        return fmt::format("request {} begins at {:.9g} s, and resource {} is busy until {:.9g} s", number, p.start,
                           resource, busy);
      busy = std::max(busy, p.end);
    }
    end = std::max(end, p.end);
    return {};
  }

  std::map<std::uint64_t, std::vector<PlacedPart>> placed_;  // by the request's number
  std::size_t left_;                                         // parts that no request has claimed
  std::map<std::uint64_t, double> ends_;
  std::map<int, double> busy_until_;
  double known_ = 0;  // the end of all that the caller has waited for
};

}  // namespace

std::string difference_of_files(std::span<const files::Charged> charged, std::span<const PlacedPart> placed) {
  if (charged.size() >= files::kMostCharged)
    return fmt::format("more than {} requests: the judge compares no more of them", files::kMostCharged);
  Comparison all(placed);
  for (const files::Charged& c : charged)
    if (std::string why = all.take(c); !why.empty()) return why;
  return all.left() == 0 ? "" : fmt::format("it shows {} parts of requests that were not made", all.left());
}

std::string too_early(std::span<const lab::UsesFiles::AfterKernels> requests, std::span<const PlacedPart> placed,
                      const Timeline& timeline) {
  for (const lab::UsesFiles::AfterKernels& a : requests) {
    double begin = INFINITY;
    for (const PlacedPart& p : placed)
      if (p.number == a.request) begin = std::min(begin, p.start);
    const auto ended = std::count_if(timeline.items.begin(), timeline.items.end(), [&](const Timeline::Item& i) {
      return i.kind == "kernel" && i.name == a.kernel && !before(begin, i.end);
    });
    if (static_cast<std::size_t>(ended) < a.kernels)
      return fmt::format(
          "{} comes at {:.6g} ms of virtual time, after {} of the {} {}s that make what it holds: its values "
          "were worked out elsewhere",
          a.what, 1e3 * begin, ended, a.kernels, a.kernel);
  }
  return {};
}

}  // namespace ridge
