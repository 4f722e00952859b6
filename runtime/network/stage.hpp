// One stage of the pipeline: its layers, and its time beside the network of its data-parallel group.
#pragma once
#include <functional>
#include <vector>

#include "layout.hpp"
#include "links/group_times.hpp"
#include "transformer.hpp"

namespace ridge::network {

// A layer of a pass, or an end of the model: its computation, and the collectives of its parameters.
struct Segment {
  double seconds = 0;
  double parameters = 0;          // on one rank of the tensor group
  double gather = 0, reduce = 0;  // s of an all-gather of its weights and of a reduction of its gradients
  double tensor = 0;              // s in which its tensor-parallel group exchanges messages, hidden or not
  int weight_bytes = 2;           // of a weight that is gathered
};

// Which collectives a pass brings along.
struct Traffic {
  bool gather = false, reduce = false;
  bool first_is_there = false;  // the first segment's weights need no gather
};

// The stage's GPU and its network, which serves collectives in the order in which they are issued: gathers one segment
// ahead of the computation, reductions behind it. What the network has left of a pass goes on under the next one.
class StageClock {
 public:
  using Seen = std::function<void(double start, double end)>;

  double compute = 0, network = 0;   // the seconds at which each is free
  double exposed = 0;                // s for which passes waited for collectives or shared the GPU with them
  double gathered = 0, reduced = 0;  // parameters, all passes together
  Slowdown beside;                   // of the tensor group's messages and of these, while both travel

  double gathered_bytes = 0;
  void count_gathered(const Segment& s) {
    gathered += s.parameters;
    gathered_bytes += s.weight_bytes * s.parameters;
  }
  // Messages of the pipeline that take so many seconds of the links' capacity from second `at` on.
  void give_way(double at, double seconds) {
    if (network > at) network += seconds;
  }
  // Weights that travel from second 0 on: the second at which each segment's are there, one after the other.
  std::vector<double> gather_all(const std::vector<const std::vector<Segment>*>& chunks);
  // A pass that may begin at `start`. `ready`: of each segment, or empty. `reduced_in` sees each reduction.
  void run(const std::vector<Segment>& segments, double start, const Traffic& traffic,
           const std::vector<double>& ready = {}, const Seen& reduced_in = {});
};

// The layers of chunk `chunk` of stage `stage`. Chunks of all stages hold the layers in order, the first ones one more.
int layers_of(const Transformer& model, const Layout& layout, int stage, int chunk);
bool has_embedding(const Layout& layout, int stage, int chunk);
bool has_head(const Layout& layout, int stage, int chunk);
// Parameters of the head on the last stage: with a tied embedding, its copy where the first stage is another one.
double head_parameters(const Transformer& model, const Layout& layout);
// Parameters of a stage on one rank of the tensor group.
double parameters_of(const Transformer& model, const Layout& layout, int stage);

}  // namespace ridge::network
