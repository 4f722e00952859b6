// A cluster that is drawn for `planner`, with its simulated times and its bytes. A submission sees `problem`. The rest is
// drawn from a seed that neither `problem` nor its numbers' seed tells: with it, a step could be simulated without a
// question to the judge.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../planner.hpp"
#include "checks/one_way.hpp"
#include "common.hpp"
#include "network/training_step.hpp"

namespace ridge::lab::parallel_3d {

struct World {
  Problem problem;
  network::Transformer model;
  network::Cluster cluster;

  // `number` of the cluster: small ones, middle and large ones in turn.
  World(std::uint64_t secret, int number)
      : World(one_way_seed(secret, "visible"), one_way_seed(secret, "hidden"), number) {}

  World(std::uint64_t visible, std::uint64_t hidden, int number) {
    draw_problem(Draw(visible), number);
    draw_cluster(Draw(hidden));
  }

  // Empty where the plan is possible.
  std::string impossible(const Plan& p) const {
    const Model& m = problem.model;
    for (const int size : {p.data, p.tensor, p.pipeline, p.micro_batch, p.chunks})
      if (size < 1 || (size & (size - 1)) != 0 || size > 1 << 20) return "sizes are powers of two";
    if (std::int64_t{p.data} * p.tensor * p.pipeline != problem.machine.gpus)
      return fmt::format("there are {} GPUs", problem.machine.gpus);
    if (p.tensor > problem.machine.node) return fmt::format("a node has {} GPUs", problem.machine.node);
    if (m.heads % p.tensor != 0) return fmt::format("there are {} heads", m.heads);
    if (p.micro_batch > 8 || problem.global_batch % (std::int64_t{p.data} * p.micro_batch) != 0)
      return fmt::format("the global batch has {} sequences", problem.global_batch);
    if (p.chunks > 4 || m.layers % (std::int64_t{p.pipeline} * p.chunks) != 0)
      return fmt::format("there are {} layers", m.layers);
    if (p.chunks > 1 && (p.pipeline == 1 || problem.global_batch / (p.data * p.micro_batch) % p.pipeline != 0))
      return "the stages cannot be interleaved";
    if (p.shard < 0 || p.shard > 3 || (p.data == 1 && p.shard > 0))
      return "ZeRO's stage is 0 to 3, and 0 with one replica";
    return {};
  }
  double seconds(const Plan& p) const {
    network::Layout l;
    l.data = p.data, l.tensor = p.tensor, l.pipeline = p.pipeline, l.micro_batch = p.micro_batch, l.chunks = p.chunks,
    l.shard = p.shard;
    l.global_batch = problem.global_batch;
    l.recompute = p.recompute ? network::Recompute::full : network::Recompute::none;
    return network::simulate_step(model, l, cluster).seconds;
  }
  // Of one stage; memory_of takes the largest. `parts`: weights, gradients, optimizer, activations, logits.
  std::array<std::int64_t, 5> bytes(const Plan& p, int stage) const {
    const Model& m = problem.model;
    auto up = [](std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
    const std::int64_t h = m.hidden, layer = h * (12 * h + 13), tokens = std::int64_t{p.micro_batch} * m.sequence;
    const bool last = stage == p.pipeline - 1;
    const std::int64_t n =
        up(m.layers / p.pipeline * layer + (stage == 0 || last ? h * (m.vocabulary + m.sequence) : 0), p.tensor);
    const std::int64_t one = up(layer, p.tensor), all = up(34 * tokens * h, p.tensor),
                       input = up(2 * tokens * h, p.tensor);
    const int count = problem.global_batch / (p.data * p.micro_batch), v = p.chunks, behind = p.pipeline - 1 - stage;
    const int kept = std::min(count * v, v == 1 ? behind + 1 : 2 * behind + (v - 1) * p.pipeline + 1);
    const std::int64_t layers = std::int64_t{kept} * (m.layers / (p.pipeline * v));
    return {p.shard < 3 ? 2 * n : up(2 * n, p.data) + 4 * one, p.shard < 2 ? 4 * n : up(4 * n, p.data) + 4 * one,
            p.shard < 1 ? 12 * n : up(12 * n, p.data), p.recompute ? layers * input + all : layers * all,
            last ? up(6 * tokens * m.vocabulary, p.tensor) : 0};
  }
  std::int64_t memory(const Plan& p) const {
    std::int64_t most = 0;
    for (int s = 0; s < p.pipeline; ++s) {
      std::int64_t sum = 0;
      for (const std::int64_t part : bytes(p, s)) sum += part;
      most = std::max(most, sum);
    }
    return most;
  }
  // Not all plans fit, and too many do to simulate them all.
  bool is_a_search() const {
    std::size_t fit = 0;
    const std::vector<Plan> all = plans();
    for (const Plan& p : all) fit += memory(p) <= problem.machine.memory ? 1 : 0;
    return fit > 4 * kSimulations && fit < all.size();
  }
  std::vector<Plan> plans() const {
    std::vector<Plan> all;
    const int gpus = problem.machine.gpus;
    for (int d = 1; d <= gpus; d *= 2)
      for (int t = 1; d * t <= gpus; t *= 2)
        for (const int b : {1, 2, 4, 8})
          for (const int v : {1, 2, 4})
            for (const bool recompute : {false, true})
              for (int shard = 0; shard < 4; ++shard)
                if (const Plan p{d, t, gpus / (d * t), b, v, recompute, shard}; impossible(p).empty()) all.push_back(p);
    return all;
  }

 private:
  // To three digits: the rest of a number would tell its seed.
  static double rounded(double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 2);
    return std::round(x / unit) * unit;
  }

  void draw_problem(Draw draw, int number) {
    auto power = [&](int low, int high) { return 1 << draw.integer(low, high); };
    const int kind = number % 3;
    // Layers, hidden, heads of models that people train. The first has few factors of two, so that rounding shows: the
    // first cluster always has it, with an odd vocabulary and 16 GPUs or more.
    constexpr int kModels[][3] = {{24, 2046, 6},  {32, 2560, 32}, {32, 4096, 32},
                                  {40, 5120, 40}, {48, 6144, 48}, {48, 8192, 64}};
    const int drawn = kind == 0 ? draw.integer(0, 1) : kind == 1 ? draw.integer(2, 3) : draw.integer(3, 5);
    const auto& [layers, hidden, heads] = kModels[number == 0 ? 0 : drawn];
    const int vocabulary = draw.integer(0, 1) == 0 || number == 0 ? 50257 : 128256;
    problem.model = {layers, hidden, heads, vocabulary, kind == 0 ? 2048 : power(11, 12)};
    problem.global_batch = kind == 0 ? power(5, 8) : power(6, 9);
    Machine& machine = problem.machine;
    machine.node = number == 0 ? 8 : power(2, 3);
    machine.gpus = machine.node * (number == 0 ? power(1, 2)
                                   : kind == 0 ? power(0, 2)
                                   : kind == 1 ? power(2, 3)
                                               : power(3, 5));
    machine.memory = (kind == 0 ? draw.integer(24, 48) : draw.integer(48, 141)) * std::int64_t{1000000000};
    // Between an A100 and an H200.
    machine.flops = rounded(draw.real(234e12, 749e12));
    machine.node_bandwidth =
        rounded(draw.integer(0, 2) == 0 ? draw.real(12e9, 25e9) : draw.real(150e9, 400e9));  // PCIe; NVLink
    const double adapter = draw.real(10e9, 48e9);
    adapters_ = draw.integer(0, 2) == 0 ? 1 : machine.node;
    machine.network_bandwidth = std::min(machine.node_bandwidth, rounded(adapter * adapters_ / machine.node));
  }

  void draw_cluster(Draw draw) {
    const auto& [layers, hidden, heads, vocabulary, sequence] = problem.model;
    model.title = "drawn";
    model.layers = layers, model.hidden = hidden, model.heads = model.kv_heads = heads;
    model.head_width = hidden / heads;
    model.feed_forward = 4 * hidden, model.vocabulary = vocabulary;
    model.sequence = model.positions = sequence;
    model.tied = true;
    const Machine& machine = problem.machine;
    network::Gpu& gpu = cluster.gpu;
    gpu.title = "drawn";
    gpu.sms = draw.integer(108, 148);
    gpu.product_efficiency = draw.real(0.68, 0.82);
    gpu.bf16_flops = machine.flops / gpu.product_efficiency, gpu.fp8_flops = 2 * gpu.bf16_flops;
    gpu.fp8_efficiency = 0.9;
    const double speed = gpu.bf16_flops / 312e12;  // over an A100's
    gpu.product_depth = 256 * speed;
    gpu.flash = {{198e12 * std::sqrt(speed), 340, 0}, {183e12 * std::sqrt(speed), 600, 0}};
    gpu.memory_bandwidth = draw.real(1.7e12, 4.3e12), gpu.memory_bytes = static_cast<double>(machine.memory);
    gpu.kernel_seconds = 2.3e-6;
    network::Fabric& fabric = cluster.fabric;
    fabric.title = "drawn";
    fabric.gpus = machine.node;
    fabric.node_bandwidth = machine.node_bandwidth, fabric.node_latency = 5e-6;
    fabric.adapters = adapters_;
    fabric.adapter_bandwidth = machine.network_bandwidth * machine.node / adapters_, fabric.latency = 1e-5;
  }

  int adapters_ = 1;  // of a node
};

}  // namespace ridge::lab::parallel_3d
