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
#include <algorithm>
#include <map>
#include <utility>

namespace {

// Seconds of a step, roughly: products at full rate, collectives as rings, and the pipeline's bubble.
double guess(const Problem& problem, const Plan& plan) {
  const auto [d, t, p, b, v, recompute, shard] = plan;
  const Model& model = problem.model;
  const Machine& machine = problem.machine;
  const double h = model.hidden, tokens = double(b) * model.sequence, layers = double(model.layers) / p;
  const double m = double(problem.global_batch) / (d * b), V = model.vocabulary;
  // One forward through a stage. Kernels that memory bounds move about 60 bytes a token and channel, as layer_times.cpp
  // of runtime/network counts them; 2e12 B/s is an A100's memory.
  const double products =
      layers * tokens * (24 * h * h + 4 * h * model.sequence) / t / machine.flops + layers * 60 * tokens * h / t / 2e12;
  // Of the tensor group: 4 collectives a layer forward and 6 backward (Korthikanti et al. 2022).
  const double collective = layers * (t - 1.0) / t * 2 * tokens * h / machine.node_bandwidth;
  const double forward = products + 4 * collective;
  // The head's product stands on the last stage, for which the others wait. That 0.3 of a message to the next stage is
  // waited for is a rough number: with 0 and with 1, plans are found as well (benchmarks/planner).
  const double head = 2 * tokens * h * V / t / machine.flops,
               message = p > 1 ? 2 * tokens * h / t / machine.network_bandwidth : 0;
  double first = forward + head + 0.3 * message;
  double back = 2 * (products + head) + 6 * collective + 0.6 * message + (recompute ? forward : 0);
  // A ring of d goes through each node once, over the adapters of all its members there.
  const int together = std::min(d, machine.node / t);
  const double network = d > together ? machine.network_bandwidth * together : machine.node_bandwidth;
  const double bytes = (layers * 12 * h * h + V * h) / t * (d - 1) / d /
                       std::min(network, machine.node_bandwidth);  // seconds of a byte a parameter
  if (shard == 3) first = std::max(first, 2 * bytes), back = std::max(back, 6 * bytes);
  if (shard == 2) back = std::max(back, 4 * bytes);
  double seconds = (first + back) * (m + (p - 1.0) / v) + (v > 1 ? 0.3 * message * m * (v - 1) : 0);
  if (shard < 2) seconds += std::max(0.0, (shard == 0 ? 8 : 4) * bytes - back);
  if (shard == 1 || shard == 2) seconds += std::max(0.0, 2 * bytes - first);
  return seconds + 0.1 * (shard >= 2 ? m : 1) * 4 * bytes;  // collectives take a part of the GPU
}

}  // namespace

std::int64_t memory_of(const Model& model, int global_batch, const Plan& plan) {
  const auto [d, t, p, b, v, recompute, shard] = plan;
  const std::int64_t h = model.hidden, tokens = std::int64_t{b} * model.sequence, layer = 12 * h * h + 13 * h;
  const std::int64_t full = divided(34 * tokens * h, t), kept = recompute ? divided(2 * tokens * h, t) : full;
  std::int64_t most = 0;
  for (int s = 0; s < p; ++s) {
    std::int64_t parameters = model.layers / p * layer;
    if (s == 0 || s == p - 1) parameters += std::int64_t{model.vocabulary + model.sequence} * h;
    const std::int64_t n = divided(parameters, t), one = divided(layer, t);
    std::int64_t bytes = shard == 3 ? divided(2 * n, d) + 4 * one : 2 * n;
    bytes += shard >= 2 ? divided(4 * n, d) + 4 * one : 4 * n;
    bytes += shard >= 1 ? divided(12 * n, d) : 12 * n;
    bytes += kept * (model.layers / (p * v)) * kept_of(p, v, global_batch / (d * b), s);
    if (recompute) bytes += full;
    if (s == p - 1) bytes += divided(6 * tokens * model.vocabulary, t);
    most = std::max(most, bytes);
  }
  return most;
}

Plan planner(const Problem& problem, const Simulate& simulate) {
  std::vector<std::pair<double, Plan>> open;  // with the guessed seconds
  for (const Plan& plan : plans_of(problem))
    if (memory_of(problem.model, problem.global_batch, plan) <= problem.machine.memory)
      open.push_back({guess(problem, plan), plan});

  // Guesses err together, for all plans of one grid. So half of the questions go to the best guesses, two of a grid at
  // most. Then each grid's guesses are corrected by what was simulated of it, and the best ones asked for: among all
  // plans and among the neighbours of the fastest so far, in turn.
  std::map<std::pair<int, int>, std::vector<double>> factors;  // simulated over guessed, by tensor and pipeline
  Plan best = open.front().second;
  double least = 1e30;
  for (int i = 0; i < kSimulations && !open.empty(); ++i) {
    const bool spread = i < kSimulations / 2;
    auto rank = [&](const std::pair<double, Plan>& x) {
      const auto& [guessed, plan] = x;
      const auto& known = factors[{plan.tensor, plan.pipeline}];
      if (spread) return known.size() < 2 ? guessed : 1e20 * guessed;
      if (i % 2 == 0 && differences(plan, best) > 2) return 1e20 * guessed;
      return guessed * (known.empty() ? 1 : *std::min_element(known.begin(), known.end()));
    };
    const auto next =
        std::min_element(open.begin(), open.end(), [&](const auto& x, const auto& y) { return rank(x) < rank(y); });
    const auto [guessed, plan] = *next;
    open.erase(next);
    const double seconds = simulate(plan);
    factors[{plan.tensor, plan.pipeline}].push_back(seconds / guessed);
    if (seconds < least) best = plan, least = seconds;
  }
  return best;
}
// END(planner)
