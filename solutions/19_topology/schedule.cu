// Lab 19, task `schedule`: orders and paths for given transfers.
//
// Run: ./ridge check 19 --task schedule
#include <cstddef>

#include "schedule.hpp"

namespace {

// Calls `use(link, seconds)` for each link that a transfer occupies.
template <class Use>
[[maybe_unused]] void each_link(const Network& network, const Transfer& transfer, int path, Use use) {
  int taken[4];
  for (int k = links_of(network, transfer, path, taken); k-- > 0;)
    use(static_cast<std::size_t>(taken[k]), static_cast<double>(transfer.bytes) / capacity(network, taken[k]));
}

}  // namespace

// TASK(schedule)
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

int links_of(const Network& network, const Transfer& transfer, int path, int* links) {
  const int a = transfer.from / network.unit, b = transfer.to / network.unit;
  int count = 0;
  links[count++] = 2 * transfer.from;
  if (a != b && !network.dragonfly) {
    links[count++] = up_link(network, a, path), links[count++] = down_link(network, path, b);
  } else if (a != b && (path == a || path == b)) {
    links[count++] = global_link(network, a, b);
  } else if (a != b) {
    links[count++] = global_link(network, a, path), links[count++] = global_link(network, path, b);
  }
  links[count++] = 2 * transfer.to + 1;
  return count;
}

void busy_seconds(const Network& network, const Transfer* transfers, int count, const int* path, double* seconds) {
  std::fill_n(seconds, links(network), 0.0);
  for (int i = 0; i < count; ++i)
    each_link(network, transfers[i], path[i], [&](std::size_t l, double s) { seconds[l] += s; });
}

void schedule(const Network& network, const Transfer* transfers, int count, int* order, int* path) {
  std::vector<int> by_size(static_cast<std::size_t>(count));
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int i, int j) { return transfers[i].bytes > transfers[j].bytes; });

  // Paths: the largest transfers first, each on the path whose links are the least busy. Later rounds take a transfer off
  // its path and choose again.
  std::vector<double> seconds(static_cast<std::size_t>(links(network)), 0);
  for (int round = 0; round < 4; ++round)
    for (const int i : by_size) {
      if (round > 0) each_link(network, transfers[i], path[i], [&](std::size_t l, double s) { seconds[l] -= s; });
      double least = INFINITY;
      for (int p = 0; p < paths_of(network); ++p) {
        double sum = 0;  // the eighth power approximates the maximum
        each_link(network, transfers[i], p,
                  [&](std::size_t l, double s) { sum += std::pow(1e3 * (seconds[l] + s), 8); });
        if (sum < least) least = sum, path[i] = p;
      }
      each_link(network, transfers[i], path[i], [&](std::size_t l, double s) { seconds[l] += s; });
    }

  // Order: list scheduling, one transfer on a link at a time. The node whose port is free first takes the transfer that
  // can start first; a link with much left to carry comes a little earlier.
  std::vector<double> left = seconds, free(seconds.size(), 0);
  std::vector<std::vector<int>> waiting(static_cast<std::size_t>(network.nodes()));
  for (const int i : by_size) waiting[static_cast<std::size_t>(transfers[i].from)].push_back(i);
  for (int number = 0; number < count; ++number) {
    std::size_t node = 0;
    for (std::size_t k = 1; k < waiting.size(); ++k)
      if (!waiting[k].empty() && (waiting[node].empty() || free[2 * k] < free[2 * node])) node = k;
    auto start = [&](int i) {
      double latest = 0;
      each_link(network, transfers[i], path[i], [&](std::size_t l, double) { latest = std::max(latest, free[l]); });
      return latest;
    };
    auto cost = [&](int i) {
      double most = 0;
      each_link(network, transfers[i], path[i], [&](std::size_t l, double) {
        if (l != 2 * node) most = std::max(most, left[l]);
      });
      return start(i) - 0.2 * most;
    };
    auto& mine = waiting[node];
    const auto next = std::min_element(mine.begin(), mine.end(), [&](int i, int j) { return cost(i) < cost(j); });
    const double from = start(*next);
    each_link(network, transfers[*next], path[*next],
              [&](std::size_t l, double s) { free[l] = from + s, left[l] -= s; });
    order[*next] = number;
    mine.erase(next);
  }
}
// END(schedule)
