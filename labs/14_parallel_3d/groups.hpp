// Task `groups`: where a rank stands in the grid of data, pipeline and tensor parallelism, and with whom it talks. On
// the host.
#pragma once

// Ranks are 0 to ranks() - 1. Each size is 1 or more.
struct Sizes {
  int data, pipeline, tensor;
  int ranks() const { return data * pipeline * tensor; }
};
// 0 <= data < sizes.data, and so on.
struct Coordinates {
  int data, pipeline, tensor;
};

// As in Megatron-LM, the tensor coordinate is innermost: rank and rank + 1 differ in it. Then comes data, then
// pipeline.
Coordinates coordinates(const Sizes& sizes, int rank);
int rank_of(const Sizes& sizes, const Coordinates& at);

// Ranks that talk to each other.
enum class Group {
  tensor,    // they share each layer: same data and pipeline coordinates
  data,      // they hold the same parameters: same pipeline and tensor coordinates
  pipeline,  // the stages that a micro-batch passes: same data and tensor coordinates
  // The first and the last stage of a pipeline, which is one rank where there is one stage. No other stage is in such a
  // group.
  embedding,
  model  // they hold one copy of the model: same data coordinate
};

// Writes the members of rank's group, as ranks of the whole, in ascending order, and returns their number. 0: `rank` is
// in no group of this kind. ranks: sizes.ranks() ints.
int members(const Sizes& sizes, Group group, int rank, int* ranks);

// What this rank gives to ncclCommSplit(world, color, key, ...), which all ranks call once for each kind of group.
// Ranks with one color, 0 or more, become a communicator, in which they are numbered by ascending keys. kNoColor
// (NCCL_SPLIT_NOCOLOR): in none.
constexpr int kNoColor = -1;
struct Split {
  int color, key;
};
// The communicator has the members of rank's group, in their order.
Split split(const Sizes& sizes, Group group, int rank);
