#include <algorithm>

#include "stage.hpp"
#include "training_step.hpp"

namespace ridge::network {

namespace {

// Parameters of what ZeRO-3 gathers at once: the largest of a stage's layers and ends.
double largest_part(const Transformer& m, const Layout& l, int stage) {
  double most = 0;
  for (int c = 0; c < l.chunks; ++c) {
    most = std::max(most, layers_of(m, l, stage, c) > 0 ? m.layer_parameters() : 0);
    if (has_embedding(l, stage, c)) most = std::max(most, m.embedding_parameters());
    if (has_head(l, stage, c)) most = std::max(most, head_parameters(m, l));
  }
  return most / l.tensor;
}

// Micro-batches whose backward pass of a chunk is to come, at most (Narayanan et al. 2021).
double alive(const Layout& l, int stage) {
  const double m = l.micro_batches(), P = l.pipeline;
  if (l.chunks == 1) return std::min(m, P - stage);
  return std::min(m * l.chunks, 2 * (P - stage - 1) + (l.chunks - 1) * P + 1) / l.chunks;
}

}  // namespace

Memory memory_of(const Transformer& m, const Layout& l) {
  Memory most;
  for (int s = 0; s < l.pipeline; ++s) {
    Memory memory;
    const double n = parameters_of(m, l, s), d = l.data, part = largest_part(m, l, s);
    const bool weights = l.shard == 3 && d > 1, gradients = l.shard >= 2 && d > 1;
    memory.weights = weights ? 2 * 2 * part : 2 * n;  // one part is gathered while another one is used
    memory.gradients = l.gradient_bytes * (gradients ? n / d + part : n);
    memory.optimizer = 12 * (l.shard >= 1 ? n / d : n);
    for (int c = 0; c < l.chunks; ++c) {
      memory.activations += layers_of(m, l, s, c) * alive(l, s) * kept_bytes(m, l);
      if (has_head(l, s, c)) memory.activations += head_bytes(m, l);
    }
    if (l.recompute != Recompute::none) memory.activations += working_bytes(m, l);
    if (memory.total() > most.total()) most = memory;
  }
  return most;
}

}  // namespace ridge::network
