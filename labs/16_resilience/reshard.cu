// Lab 16, task `reshard`: files of one grid of ranks, loaded by another.
// Run: ./ridge check 16 --task reshard
#include <vector>

#include "reshard.hpp"

// TASK(reshard)
long long own_elements(const Model& model, Grid grid, int rank) {
  // TODO: tensor part, buckets, padding.
  (void)model, (void)grid, (void)rank;
  return 0;
}

void load_resharded(const Model& model, Grid from, Grid to, int rank, float* own) {
  // TODO: this is right for the same grid alone.
  (void)from;
  const int fd = files::open(shard_path(rank).c_str());
  files::pread(fd, own, static_cast<std::size_t>(own_elements(model, to, rank)) * 4, 0);
  files::close(fd);
}
// END(reshard)
