// One training step of a transformer on a cluster, in virtual time and without running kernels.
#pragma once
#include <string>
#include <vector>

#include "gpu.hpp"
#include "layer_times.hpp"
#include "layout.hpp"
#include "links/fabric.hpp"
#include "memory.hpp"
#include "transformer.hpp"

namespace ridge::network {

// A box of the timeline: what a stage of the slowest replica does.
struct Span {
  enum class Kind { forward, backward, reduce, update };
  Kind kind = Kind::forward;
  int stage = 0, chunk = 0, micro_batch = 0;
  double start = 0, end = 0;
};

struct StepReport {
  double seconds = 0;
  // Seconds of a GPU, as means over the stages; together they are `seconds`.
  Work work;                // of the passes, without what is run again; its `exposed` is the tensor group's
  double recomputed = 0;    // run again for the backward pass
  double update = 0;        // the optimizer
  double exposed_data = 0;  // gradients and weights that no pass hides, and what NCCL's kernels take from passes
  double bubble = 0;        // waiting for other stages and for their messages
  double slowest = 0;       // by which kernels of the slowest GPU take longer, for which all wait
  Memory memory;
  double tokens = 0;  // of the step
  double flops = 0;   // of the model, forward and backward, of one GPU
  // Bytes that a rank sends in a step, as a mean over the stages.
  double data_bytes = 0, tensor_bytes = 0, pipeline_bytes = 0;
  std::vector<Span> timeline;

  double tokens_per_second() const { return tokens / seconds; }
  double flops_per_second() const { return flops / seconds; }
};

struct Cluster {
  Gpu gpu;
  Fabric fabric;
};

// Throws std::invalid_argument where the layout does not fit the model. `timeline`: records spans. `seed` draws the
// paths of flows.
StepReport simulate_step(const Transformer& model, const Layout& layout, const Cluster& cluster, bool timeline = false,
                         std::uint64_t seed = 1);

}  // namespace ridge::network
