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
int links_of(const Network& network, const Transfer& transfer, int path, int* links) {
  // TODO: only the ports are here.
  (void)network, (void)path;
  links[0] = 2 * transfer.from, links[1] = 2 * transfer.to + 1;
  return 2;
}

void busy_seconds(const Network& network, const Transfer* transfers, int count, const int* path, double* seconds) {
  // TODO: bytes of each link, over its capacity.
  (void)transfers, (void)count, (void)path;
  for (int l = 0; l < links(network); ++l) seconds[l] = 0;
}

void schedule(const Network& network, const Transfer* transfers, int count, int* order, int* path) {
  // TODO: all nodes send to node 0 first, then to node 1, and a hash chooses the path, as ECMP does.
  for (int i = 0; i < count; ++i) {
    order[i] = transfers[i].to;
    unsigned hash =
        static_cast<unsigned>(transfers[i].from * 1024 + transfers[i].to) * 65536u + static_cast<unsigned>(i);
    for (int k = 0; k < 3; ++k) hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
    path[i] = static_cast<int>(hash % static_cast<unsigned>(paths_of(network)));
  }
}
// END(schedule)
