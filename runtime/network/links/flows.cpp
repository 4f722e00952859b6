#include "flows.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace ridge::network {

namespace {

// Links that some flow uses, with the flows on each.
class Filling {
 public:
  Filling(const std::vector<double>& capacities, const std::vector<Flow>& flows)
      : flows_(flows), rates_(flows.size(), 0), frozen_(flows.size()) {
    for (std::size_t f = 0; f < flows.size(); ++f) {
      frozen_[f] = flows[f].empty();
      if (frozen_[f]) rates_[f] = INFINITY;
      for (std::int32_t l : flows[f]) {
        auto [at, added] = links_.try_emplace(l);
        if (added) at->second.left = capacities[static_cast<std::size_t>(l)];
        at->second.flows.push_back(f);
        ++at->second.open;
      }
    }
  }

  // The link with the smallest share freezes its flows, until all are frozen.
  std::vector<double> rates() {
    using Entry = std::tuple<double, std::int32_t, int>;  // share, link, how many flows were open then
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> shares;
    for (const auto& [id, link] : links_) shares.emplace(link.left / link.open, id, link.open);
    while (!shares.empty()) {
      const auto [share, id, open] = shares.top();
      shares.pop();
      if (links_.at(id).open != open || open == 0) continue;  // an older entry
      for (std::size_t f : links_.at(id).flows) {
        if (frozen_[f]) continue;
        frozen_[f] = true;
        rates_[f] = share;
        for (std::int32_t l : flows_[f]) {
          Link& link = links_.at(l);
          link.left = std::max(0.0, link.left - share);
          if (--link.open > 0 && l != id) shares.emplace(link.left / link.open, l, link.open);
        }
      }
    }
    return rates_;
  }

 private:
  struct Link {
    double left = 0;
    int open = 0;  // flows without a rate yet
    std::vector<std::size_t> flows;
  };
  const std::vector<Flow>& flows_;
  std::unordered_map<std::int32_t, Link> links_;
  std::vector<double> rates_;
  std::vector<bool> frozen_;
};

}  // namespace

std::vector<double> fair_rates(const std::vector<double>& capacities, const std::vector<Flow>& flows) {
  return Filling(capacities, flows).rates();
}

}  // namespace ridge::network
