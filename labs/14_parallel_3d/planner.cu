// Lab 14, task `planner`: how to train a model on a cluster.
//
// Run: ./ridge check 14 --task planner
#include "planner.hpp"

bool possible(const Problem& problem, const Plan& plan) {
  const auto [d, t, p, b, v, recompute, shard] = plan;
  const Model& model = problem.model;
  auto power = [](int x) { return x > 0 && (x & (x - 1)) == 0; };
  if (!power(d) || !power(t) || !power(p) || d * t * p != problem.machine.gpus) return false;
  if (t > problem.machine.node || model.heads % t != 0 || shard < 0 || shard > 3 || (d == 1 && shard > 0)) return false;
  if (!power(b) || b > 8 || problem.global_batch % (d * b) != 0 || (v != 1 && v != 2 && v != 4)) return false;
  if (v > 1 && (p == 1 || problem.global_batch / (d * b) % p != 0)) return false;
  return model.layers % (p * v) == 0;
}

// TASK(planner)
std::int64_t memory_of(const Model& model, int global_batch, const Plan& plan) {
  // TODO: this is ZeRO's stage 0 without a pipeline, and without activations.
  (void)global_batch;
  const std::int64_t h = model.hidden;
  return 18 * (model.layers * (12 * h * h + 13 * h) + (model.vocabulary + model.sequence) * h) / plan.tensor;
}

Plan planner(const Problem& problem, const Simulate& simulate) {
  // TODO: which plans are possible and fit? Which of them are worth a simulation?
  (void)simulate;
  return {problem.machine.gpus, 1, 1, 1, 1, false, 0};
}
// END(planner)
