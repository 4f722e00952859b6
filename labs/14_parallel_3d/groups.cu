// Lab 14, task `groups`: the grid of ranks, and its communicators.
//
// Run: ./ridge check 14 --task groups
#include "groups.hpp"

// TASK(groups)
Coordinates coordinates(const Sizes& sizes, int rank) {
  // TODO: this is data parallelism alone.
  (void)sizes;
  return {rank, 0, 0};
}

int rank_of(const Sizes& sizes, const Coordinates& at) {
  (void)sizes;
  return at.data;
}

int members(const Sizes& sizes, Group group, int rank, int* ranks) {
  // TODO: whose coordinates agree with those of `rank`, all but one?
  if (group != Group::data) {
    ranks[0] = rank;
    return 1;
  }
  for (int r = 0; r < sizes.ranks(); ++r) ranks[r] = r;
  return sizes.ranks();
}

Split split(const Sizes& sizes, Group group, int rank) {
  // TODO: a color for each group.
  (void)sizes, (void)group;
  return {0, rank};
}
// END(groups)
