// Lab 17, task `shards`: samples in few large files, and who takes which sample when. Host code only; shards.hpp has
// the format and the rules.
// Run: ./ridge check 17 --task shards
#include <algorithm>
#include <cstring>
#include <numeric>

#include "shards.hpp"

// TASK(shards)
int write_shards(const Samples& samples, long long shard_bytes) {
  // TODO: collect the records of a shard in memory, and write it with one request. The index comes last.
  (void)samples, (void)shard_bytes;
  return 0;
}

bool open_shards(Shards& shards) {
  // TODO: read the index, and open each shard once.
  (void)shards;
  return false;
}

long long read_sample(const Shards& shards, long long sample, unsigned char* to) {
  // TODO: one request for head and sample; then compare bytes and checksum.
  (void)shards, (void)sample, (void)to;
  return -1;
}

void epoch_order(std::uint64_t seed, long long epoch, std::vector<long long>& order) {
  // TODO: shuffle. `order` has as many elements as there are samples.
  (void)seed, (void)epoch;
  std::iota(order.begin(), order.end(), 0LL);
}

void next_batch(const Epochs& epochs, Cursor& cursor, int rank, int ranks, std::vector<long long>& mine) {
  // TODO: this rank's part of the next batch, and the cursor after the whole batch.
  (void)epochs, (void)cursor, (void)rank, (void)ranks;
  mine.clear();
}
// END(shards)
