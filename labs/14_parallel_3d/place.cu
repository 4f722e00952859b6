// Lab 14, task `place`: a GPU for each rank.
//
// Run: ./ridge check 14 --task place
#include "place.hpp"

// TASK(place)
void bytes_by_level(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, const int* gpu_of,
                    std::int64_t* bytes) {
  // TODO: add the traffic of each rank to the level of its link.
  (void)sizes, (void)traffic, (void)gpu_of;
  for (int l = 0; l < levels_of(cluster); ++l) bytes[l] = 0;
}

void place(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, int* gpu_of) {
  // TODO: which of the three groups belongs on the fastest links?
  (void)cluster, (void)traffic;
  for (int r = 0; r < sizes.ranks(); ++r) gpu_of[r] = r;
}
// END(place)
