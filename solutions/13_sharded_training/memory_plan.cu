// Lab 13, task `memory_plan`: the bytes of training, for each stage of ZeRO, before anything is allocated.
//
// Run: ./ridge check 13 --task memory_plan
#include "sharded.hpp"

namespace {

// Bytes of an array in memory of its own.
std::int64_t rounded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

// TASK(memory_plan)
Memory memory_plan(const Setup& setup, int batch) {
  const nn::ModelConfig& model = setup.model;
  const auto n = static_cast<std::int64_t>(nn::parameter_layout(model).elements);
  const std::int64_t size = setup.bf16 ? 2 : 4;
  const std::int64_t part = (n + setup.ranks - 1) / setup.ranks;
  auto sharded_from = [&](int stage) { return setup.stage >= stage ? part : n; };

  Memory plan{};
  plan.weights = rounded(size * sharded_from(3));
  plan.gradients = rounded(4 * sharded_from(2));
  plan.optimizer = (setup.bf16 ? 3 : 2) * rounded(4 * sharded_from(1));

  const std::int64_t N = static_cast<std::int64_t>(batch) * setup.sequence, C = model.channels;
  auto activations = [&](std::int64_t elements) { return rounded(size * elements); };
  const std::int64_t statistics = rounded(4 * N);
  // Both layer norms' results, attention's, and the sum behind it; q, k and v; P; the MLP before and after GELU.
  const std::int64_t block = 4 * activations(N * C) + activations(3 * N * C) +
                             activations(N * model.heads * setup.sequence) + 2 * activations(N * model.hidden()) +
                             4 * statistics;
  plan.activations = (model.layers + 1) * activations(N * C) + model.layers * block;
  plan.activations += activations(N * C) + activations(N * model.padded_vocabulary()) + 3 * statistics;  // the head
  return plan;
}

int largest_batch(const Setup& setup, std::int64_t bytes) {
  if (memory_plan(setup, 1).total() > bytes) return 0;
  int fits = 1, does_not = 2;
  while (memory_plan(setup, does_not).total() <= bytes) fits = does_not, does_not *= 2;
  while (does_not - fits > 1) {
    const int middle = fits + (does_not - fits) / 2;
    (memory_plan(setup, middle).total() <= bytes ? fits : does_not) = middle;
  }
  return fits;
}
// END(memory_plan)
