// Lab 14, task `planner`: how to train a model on a cluster.
//
// Run: ./ridge check 14 --task planner
#include <vector>

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

// All possible plans.
static std::vector<Plan> plans_of(const Problem& problem) {
  std::vector<Plan> all;
  const int gpus = problem.machine.gpus;
  for (int t = 1; t <= gpus; t *= 2)
    for (int p = 1; t * p <= gpus; p *= 2)
      for (int b = 1; b <= 8; b *= 2)
        for (int v = 1; v <= 4; v *= 2)
          for (int z = 0; z < 8; ++z)
            if (const Plan plan{gpus / (t * p), t, p, b, v, z % 2 != 0, z / 2}; possible(problem, plan))
              all.push_back(plan);
  return all;
}

// The number of choices in which two plans differ. The replicas are what is left of the GPUs, and one replica has no
// choice of ZeRO's stage.
static int differences(const Plan& a, const Plan& b) {
  return (a.tensor != b.tensor) + (a.pipeline != b.pipeline) + (a.micro_batch != b.micro_batch) +
         (a.chunks != b.chunks) + (a.recompute != b.recompute) + (a.data > 1 && b.data > 1 && a.shard != b.shard);
}

// Rounded up.
static std::int64_t divided(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// TASK(planner)
std::int64_t memory_of(const Model& model, int global_batch, const Plan& plan) {
  // TODO: this is ZeRO's stage 0 without a pipeline, and without activations.
  (void)global_batch;
  const std::int64_t h = model.hidden;
  return 18 * divided(model.layers * (12 * h * h + 13 * h) + (model.vocabulary + model.sequence) * h, plan.tensor);
}

Plan planner(const Problem& problem, const Simulate& simulate) {
  // TODO: this is the first plan that comes. Which plans fit? Which of them are worth a simulation?
  (void)simulate, (void)differences;
  return plans_of(problem).front();
}
// END(planner)
