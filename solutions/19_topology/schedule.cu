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

  // Paths, the largest transfers first: the one whose links are the least busy. Each is then taken off again, and given
  // the path that suits all others best.
  std::vector<double> seconds(static_cast<std::size_t>(links(network)), 0);
  for (int round = 0; round < 4; ++round)
    for (const int i : by_size) {
      if (round > 0) each_link(network, transfers[i], path[i], [&](std::size_t l, double s) { seconds[l] -= s; });
      double least = INFINITY;
      for (int p = 0; p < paths_of(network); ++p) {
        double sum = 0;  // a high power: nearly the busiest link alone
        each_link(network, transfers[i], p,
                  [&](std::size_t l, double s) { sum += std::pow(1e3 * (seconds[l] + s), 8); });
        if (sum < least) least = sum, path[i] = p;
      }
      each_link(network, transfers[i], path[i], [&](std::size_t l, double s) { seconds[l] += s; });
    }

  // Order: node by node, in turns, the transfer whose busiest link has been given the least so far.
  std::vector<double> given(seconds.size(), 0);
  const int nodes = network.nodes();
  std::vector<std::vector<int>> waiting(static_cast<std::size_t>(nodes));
  for (const int i : by_size) waiting[static_cast<std::size_t>(transfers[i].from)].push_back(i);
  for (int number = 0, left = count; left > 0; ++number)
    for (int k = 0; k < nodes; ++k) {
      auto& mine = waiting[static_cast<std::size_t>((k + number) % nodes)];
      if (mine.empty()) continue;
      auto busy = [&](int i) {
        double most = 0;
        each_link(network, transfers[i], path[i], [&](std::size_t l, double) {
          if (l != static_cast<std::size_t>(2 * transfers[i].from)) most = std::max(most, given[l]);
        });
        return most;
      };
      const auto next = std::min_element(mine.begin(), mine.end(), [&](int i, int j) { return busy(i) < busy(j); });
      each_link(network, transfers[*next], path[*next], [&](std::size_t l, double s) { given[l] += s; });
      order[*next] = number;
      mine.erase(next), --left;
    }
}
// END(schedule)
