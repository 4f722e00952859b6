// Lab 14, task `groups`: the grid of ranks, and its communicators.
//
// Run: ./ridge check 14 --task groups
#include "groups.hpp"

// TASK(groups)
Coordinates coordinates(const Sizes& sizes, int rank) {
  const int tensor = rank % sizes.tensor, outer = rank / sizes.tensor;
  return {outer % sizes.data, outer / sizes.data, tensor};
}

int rank_of(const Sizes& sizes, const Coordinates& at) {
  return (at.pipeline * sizes.data + at.data) * sizes.tensor + at.tensor;
}

namespace {

// The smallest rank of the group, which names it; -1 where there is none.
int first_of(const Sizes& sizes, Group group, int rank) {
  Coordinates at = coordinates(sizes, rank);
  switch (group) {
    case Group::tensor:
      at.tensor = 0;
      break;
    case Group::data:
      at.data = 0;
      break;
    case Group::embedding:
      if (at.pipeline != 0 && at.pipeline != sizes.pipeline - 1) return -1;
      at.pipeline = 0;
      break;
    case Group::pipeline:
      at.pipeline = 0;
      break;
    case Group::model:
      at.tensor = 0, at.pipeline = 0;
      break;
  }
  return rank_of(sizes, at);
}

}  // namespace

int members(const Sizes& sizes, Group group, int rank, int* ranks) {
  const int first = first_of(sizes, group, rank);
  int count = 0;
  for (int r = 0; first >= 0 && r < sizes.ranks(); ++r)
    if (first_of(sizes, group, r) == first) ranks[count++] = r;
  return count;
}

Split split(const Sizes& sizes, Group group, int rank) {
  const int first = first_of(sizes, group, rank);
  return {first >= 0 ? first : kNoColor, rank};
}
// END(groups)
