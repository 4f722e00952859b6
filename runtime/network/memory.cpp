#include "memory.hpp"

#include <algorithm>

#include "stage.hpp"

namespace ridge::network {

namespace {

constexpr double kLogSumExp = 4;  // bytes that fused attention keeps of a head's query, besides its output

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

double working_bytes(const Transformer& m, const Layout& l) {
  const double rows = double(l.micro_batch) * m.sequence, t = l.tensor;
  const double shared = l.row_shares();
  const double queries = double(m.heads) * m.head_width / t, keys = double(m.kv_heads) * m.head_width / t;
  const bool floats = m.gated && !l.fused && !l.fused_norms;
  // Each of two norms: its input and its output. An RMS norm of many kernels keeps two copies of its input as floats,
  // their quotient by the norm, and its output.
  double elements = (floats ? 12.0 : 4.0) * m.hidden / shared;
  // q, k, v and the attended values.
  elements += 2 * queries + 2 * (l.repeats_keys ? queries : keys);
  // The inputs of the MLP's activation and of its last product. Eager SwiGLU keeps what SiLU returns, too.
  elements += (m.gated ? l.fused ? 3.0 : 4.0 : 2.0) * m.feed_forward / t;
  if (l.keeps_gathered) elements += 2 * m.hidden * (1 - 1 / shared);
  const double scores = 5.0 * m.sequence;  // of a head's query: scores, their softmax, a mask
  return rows * (kBf16 * elements + m.heads / t * (l.fused_attention() ? kLogSumExp : scores));
}

double kept_bytes(const Transformer& m, const Layout& l) {
  const double rows = double(l.micro_batch) * m.sequence, t = l.tensor;
  const double shared = l.row_shares();
  if (l.recompute == Recompute::full) return kBf16 * rows * m.hidden / shared;
  const double all = working_bytes(m, l);
  if (l.recompute == Recompute::none) return all;
  if (!l.fused_attention()) return all - 5.0 * m.heads / t * rows * m.sequence;
  // The layer's input, q, v, the attended values, the MLP's first product; the sum after attention where it travelled.
  // A compiler drops the last product's output, which nothing in backward needs.
  const double hidden = m.hidden / shared * (t > 1 ? 2 : 1) + (l.fused ? 0 : m.hidden);
  const double elements = hidden + (2.0 * m.heads + m.kv_heads) * m.head_width / t + m.feed_forward / t;
  return rows * (kBf16 * elements + kLogSumExp * m.heads / t);
}

// A loss in floats: the softmax's logarithm, its gradient and that of the logits are there at once.
double head_bytes(const Transformer& m, const Layout& l) {
  return (l.fused_loss ? 2.0 : 12.0) * l.micro_batch * m.sequence * m.vocabulary / l.tensor;
}

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
