// The kind of an event, from its category and name in our traces and PyTorch's; and sets of time spans.
#pragma once
#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

enum class Kind : std::uint8_t { compute, communication, copy, host, other };
const char* name_of(Kind kind);

Kind kind_of(std::string_view category, std::string_view name);

// Caches kinds, since many events share a name.
class Kinds {
 public:
  explicit Kinds(const EventStore& store) : store_(store) {}
  Kind operator()(std::size_t event);

 private:
  const EventStore& store_;
  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(1 << 14, ~0ULL);
  std::vector<Kind> kinds_ = std::vector<Kind>(1 << 14);
};

// Disjoint spans of time in order.
using Spans = std::vector<std::pair<Time, Time>>;
void merge(Spans& spans);
Time length(const Spans& spans);
Spans common(const Spans& a, const Spans& b);
Spans without(const Spans& a, const Spans& b);

}  // namespace ridge::viz::timeline
