#include "count/footprint.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ridge::simt {

void Ranges::insert(std::uintptr_t begin, std::uintptr_t end) {
  // The first range that ends at `begin` or later touches the new one, or lies behind it.
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                [](const Range& r, std::uintptr_t at) { return r.end < at; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  if (first == last) {
    first = ranges_.insert(first, {begin, end});
  } else {
    *first = {begin, end};
    ranges_.erase(first + 1, last);
  }
  last_ = static_cast<std::size_t>(first - ranges_.begin());
  if (ranges_.size() <= kMost) return;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i + 1 < ranges_.size(); ++i)
    if (ranges_[i + 1].begin - ranges_[i].end < ranges_[nearest + 1].begin - ranges_[nearest].end) nearest = i;
  ranges_[nearest].end = ranges_[nearest + 1].end;
  ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
  last_ = 0;
}

std::uintptr_t Ranges::common(const Ranges& other) const {
  for (std::size_t i = 0, k = 0; i < ranges_.size() && k < other.ranges_.size();) {
    const Range &a = ranges_[i], &b = other.ranges_[k];
    const std::uintptr_t begin = std::max(a.begin, b.begin);
    if (begin < std::min(a.end, b.end)) return begin;
    a.end < b.end ? ++i : ++k;
  }
  return 0;
}

void Ranges::common(const Ranges& other, Ranges& out) const {
  for (std::size_t i = 0, k = 0; i < ranges_.size() && k < other.ranges_.size();) {
    const Range &a = ranges_[i], &b = other.ranges_[k];
    const std::uintptr_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
    if (begin < end) out.add(begin, end);
    a.end < b.end ? ++i : ++k;
  }
}

namespace {
std::array<std::pair<const Ranges*, const Ranges*>, 7> conflicting(const Footprint& a, const Footprint& b) {
  return {{{&a.written, &b.written},
           {&a.written, &b.read},
           {&a.read, &b.written},
           {&a.written, &b.atomic},
           {&a.atomic, &b.written},
           {&a.atomic, &b.read},
           {&a.read, &b.atomic}}};
}
}  // namespace

std::uintptr_t Footprint::conflict(const Footprint& o) const {
  for (auto [a, b] : conflicting(*this, o))
    if (std::uintptr_t at = a->common(*b)) return at;
  return 0;
}

Ranges Footprint::conflicts(const Footprint& o) const {
  Ranges all;
  for (auto [a, b] : conflicting(*this, o)) a->common(*b, all);
  return all;
}

}  // namespace ridge::simt
