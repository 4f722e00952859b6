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
#include <algorithm>
#include <limits>
#include <vector>

namespace {

std::int64_t divided(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// Seconds of a step, roughly: products at full rate, collectives as rings, and the pipeline's bubble.
double guess(const Problem& problem, const Plan& plan) {
  const auto [d, t, p, b, v, recompute, shard] = plan;
  const Model& model = problem.model;
  const Machine& machine = problem.machine;
  const double h = model.hidden, tokens = double(b) * model.sequence, layers = double(model.layers) / p;
  const double m = double(problem.global_batch) / (d * b), V = model.vocabulary;
  // One forward through a stage. The head's product stands on the last stage, for which the others wait.
  double forward = layers * tokens * (24 * h * h + 4 * h * model.sequence) / t / machine.flops;
  forward += layers * 60 * tokens * h / t / 2e12;  // kernels that memory bounds
  forward += layers * 4 * (t - 1.0) / t * 2 * tokens * h / machine.node_bandwidth;
  const double head = 2 * tokens * h * V / t / machine.flops,
               message = p > 1 ? 2 * tokens * h / t / machine.network_bandwidth : 0;
  double first = forward + head + 0.3 * message, back = 2 * first + (recompute ? forward : 0);
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
  struct Candidate {
    Plan plan;
    double seconds;  // guessed
    bool asked = false;
  };
  std::vector<Candidate> all;
  const int gpus = problem.machine.gpus;
  for (int t = 1; t <= problem.machine.node; t *= 2)
    for (int p = 1; t * p <= gpus; p *= 2)
      for (int b = 1; b <= 8; b *= 2)
        for (int v = 1; v <= 4; v *= 2)
          for (int z = 0; z < 8; ++z) {
            const Plan plan{gpus / (t * p), t, p, b, v, z % 2 != 0, z / 2};
            if (possible(problem, plan) &&
                memory_of(problem.model, problem.global_batch, plan) <= problem.machine.memory)
              all.push_back({plan, guess(problem, plan)});
          }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.seconds < y.seconds; });

  Plan best = all.front().plan;
  double least = std::numeric_limits<double>::infinity();
  auto near = [&](const Plan& x) {
    return (x.data != best.data) + (x.tensor != best.tensor) + (x.pipeline != best.pipeline) +
               (x.micro_batch != best.micro_batch) + (x.chunks != best.chunks) + (x.recompute != best.recompute) +
               (x.shard != best.shard) <=
           2;
  };
  // Guesses err together, for all plans of one grid. So half of the questions go to the best guesses, two of a grid at
  // most, and the others to what differs in one or two choices from the best so far.
  std::vector<const Candidate*> asked;
  for (int i = 0; i < kSimulations; ++i) {
    Candidate* next = nullptr;
    auto wanted = [&](const Candidate& c) {
      if (i >= kSimulations / 2) return near(c.plan);
      return std::count_if(asked.begin(), asked.end(), [&](const Candidate* a) {
               return a->plan.tensor == c.plan.tensor && a->plan.pipeline == c.plan.pipeline;
             }) < 2;
    };
    for (Candidate& c : all)
      if (!c.asked && (next == nullptr || (wanted(c) && !wanted(*next)))) next = &c;
    if (next == nullptr) break;
    next->asked = true;
    asked.push_back(next);
    if (const double seconds = simulate(next->plan); seconds < least) best = next->plan, least = seconds;
  }
  return best;
}
// END(planner)
