// What one stage of the pipeline has to do: its layers, their times, and the collectives of its data-parallel group.
#pragma once
#include <vector>

#include "layer_times.hpp"
#include "layout.hpp"

namespace ridge::network {

// The share of a GPU that NCCL's kernels take from others while they run: 16 of some 132 SMs; assumed.
constexpr double kShareOfCollectives = 0.12;

// One layer of a pass: its computation, and the collectives that belong to it.
struct Segment {
  double seconds = 0;
  double gather = 0;  // s of an all-gather before it
  double reduce = 0;  // s of a reduction after it
};

// How long segments take one after the other, with gathers one segment ahead and reductions behind, on one network that
// serves them in order.
struct Timed {
  double seconds = 0;        // until the last computation ends
  double network = 0;        // until the network is free
  double shared = 0;         // s that collectives took from computation
  std::vector<double> ends;  // of each segment's computation
};
Timed run_segments(const std::vector<Segment>& segments, bool first_is_gathered);

// The layers of chunk `chunk` of stage `stage`: the chunks of all stages hold layers in order, the first ones one more.
int layers_of(const Transformer& model, const Layout& layout, int stage, int chunk);
bool has_embedding(const Layout& layout, int stage, int chunk);
bool has_head(const Layout& layout, int stage, int chunk);
// Parameters of a stage on one rank of the tensor group.
double parameters_of(const Transformer& model, const Layout& layout, int stage);

}  // namespace ridge::network
