// Lab 17, task `stripes`: how a file is spread over storage targets, and what that costs. Host code only.
// Run: ./ridge check 17 --task stripes
#include <algorithm>

#include "stripes.hpp"

// TASK(stripes)
void target_bytes(const System& system, const Striping& striping, long long offset, long long bytes,
                  long long* on_target) {
  // TODO: go from stripe to stripe. The first and the last one may be cut.
  (void)striping, (void)offset, (void)bytes;
  std::fill_n(on_target, system.targets, 0LL);
}

double makespan(const System& system, const Striping& striping, long long file_bytes, int readers,
                long long request_bytes) {
  // TODO: add up, for each target, what every request of every rank takes of it.
  (void)system, (void)striping, (void)file_bytes, (void)readers, (void)request_bytes;
  return 0;
}

Choice choose(const System& system, long long file_bytes, int readers, long long most_request_bytes) {
  // TODO: the file system's default is one target. Find better.
  (void)system, (void)file_bytes, (void)readers, (void)most_request_bytes;
  return {{1 << 20, 1, 0}, kLeastChoice};
}

double seconds_of_files(const System& system, const Collection& collection) {
  // TODO: opens of the one metadata server, requests of the targets.
  (void)system, (void)collection;
  return 0;
}

double seconds_of_shards(const System& system, const Collection& collection, long long per_shard) {
  // TODO: the same with fewer opens.
  (void)system, (void)collection, (void)per_shard;
  return 0;
}

long long least_per_shard(const System& system, const Collection& collection) {
  // TODO: how many shards may there be?
  (void)system, (void)collection;
  return 1;
}
// END(stripes)
