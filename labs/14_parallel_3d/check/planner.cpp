// Plans for clusters that are drawn from the seed. Times are those of the cluster simulator (runtime/network), of which
// the judge asks for every plan that there is: its search leaves out nothing but what is impossible or does not fit.
#include "../planner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "checks/memo.hpp"
#include "common.hpp"
#include "network/training_step.hpp"

namespace ridge::lab::parallel_3d {

namespace {

namespace net = ridge::network;
constexpr std::size_t kPlan = 7;  // ints

struct World {
  Problem problem;
  net::Transformer model;
  net::Cluster cluster;

  explicit World(std::uint64_t seed, int kind) {
    Draw draw(seed);
    auto power = [&](int low, int high) { return 1 << draw.integer(low, high); };
    // Layers, hidden, heads of models that people train.
    constexpr int kModels[][3] = {{24, 2046, 6},  {32, 2560, 32}, {32, 4096, 32},
                                  {40, 5120, 40}, {48, 6144, 48}, {48, 8192, 64}};
    const auto& [layers, hidden, heads] = kModels[kind == 0   ? draw.integer(0, 1)
                                                  : kind == 1 ? draw.integer(2, 3)
                                                              : draw.integer(3, 5)];
    const int vocabulary = draw.integer(0, 1) == 0 ? 50257 : 128256;
    problem.model = {layers, hidden, heads, vocabulary, kind == 0 ? 2048 : power(11, 12)};
    problem.global_batch = kind == 0 ? power(5, 8) : power(6, 9);
    Machine& machine = problem.machine;
    machine.node = power(2, 3);
    machine.gpus = machine.node * (kind == 0 ? power(0, 2) : kind == 1 ? power(2, 3) : power(3, 5));
    machine.memory = static_cast<std::int64_t>((kind == 0 ? draw.integer(24, 48) : draw.integer(48, 141)) * 1e9);
    const int adapters = draw.integer(0, 2) == 0 ? 1 : machine.node;

    model.title = "drawn";
    model.layers = layers, model.hidden = hidden, model.heads = model.kv_heads = heads,
    model.head_width = hidden / heads;
    model.feed_forward = 4 * hidden, model.vocabulary = vocabulary,
    model.sequence = model.positions = problem.model.sequence;
    model.tied = true;
    // Between an A100 and an H200.
    net::Gpu& gpu = cluster.gpu;
    const double speed = draw.real(1, 3.2);
    gpu.title = "drawn";
    gpu.sms = draw.integer(108, 148);
    gpu.bf16_flops = 312e12 * speed, gpu.fp8_flops = 2 * gpu.bf16_flops, gpu.fp8_efficiency = 0.9;
    gpu.product_efficiency = draw.real(0.68, 0.82), gpu.product_depth = 256 * speed;
    gpu.attention_forward = 198e12 * std::sqrt(speed), gpu.attention_backward = 183e12 * std::sqrt(speed);
    gpu.attention_forward_half = 340, gpu.attention_backward_half = 600;
    gpu.memory_bandwidth = draw.real(1.7e12, 4.3e12), gpu.memory_bytes = static_cast<double>(machine.memory);
    gpu.kernel_seconds = 2.3e-6;
    net::Fabric& fabric = cluster.fabric;
    fabric.title = "drawn";
    fabric.gpus = machine.node;
    fabric.node_bandwidth = draw.integer(0, 2) == 0 ? draw.real(12e9, 25e9) : draw.real(150e9, 400e9);  // PCIe; NVLink
    fabric.node_latency = 5e-6;
    fabric.adapters = adapters, fabric.adapter_bandwidth = draw.real(10e9, 48e9), fabric.latency = 1e-5;
    machine.flops = gpu.bf16_flops * gpu.product_efficiency;
    machine.node_bandwidth = fabric.node_bandwidth;
    machine.network_bandwidth = fabric.adapter_bandwidth * adapters / machine.node;
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
    net::Layout l;
    l.data = p.data, l.tensor = p.tensor, l.pipeline = p.pipeline, l.micro_batch = p.micro_batch, l.chunks = p.chunks,
    l.shard = p.shard;
    l.global_batch = problem.global_batch;
    l.recompute = p.recompute ? net::Recompute::full : net::Recompute::none;
    return net::simulate_step(model, l, cluster).seconds;
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
};

std::string text_of(const Plan& p) {
  return fmt::format("data {}, tensor {}, pipeline {}, micro-batch {}, {} chunk{}, {}, ZeRO {}", p.data, p.tensor,
                     p.pipeline, p.micro_batch, p.chunks, p.chunks == 1 ? "" : "s",
                     p.recompute ? "recomputation" : "no recomputation", p.shard);
}
template <class Ints>
Plan plan_of(const Ints& x) {
  auto at = [&](std::size_t i) { return static_cast<int>(x[i]); };
  return {at(0), at(1), at(2), at(3), at(4), at(5) != 0, at(6)};
}

class Planner : public TaskCheck {
 public:
  std::string id() const override { return "planner"; }
  // Sizes: plans whose memory is asked for, kind of cluster, its number.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const int clusters = r.mode == Mode::check ? 4 : 8;
    for (int i = 0; i < clusters; ++i) {
      Case c;
      c.size = {24, i % 3, i};
      // Clusters on which some plan fits, and not all do.
      for (std::uint64_t k = 0;; ++k) {
        c.secret = random_bits(random_bits(r.seed, 50 + static_cast<std::uint64_t>(i)), k);
        const World world(c.secret, i % 3);
        std::size_t fit = 0;
        const std::vector<Plan> plans = world.plans();
        for (const Plan& p : plans) fit += world.memory(p) <= world.problem.machine.memory ? 1 : 0;
        if (fit >= 8 && fit < plans.size()) break;
      }
      const Problem p = World(c.secret, i % 3).problem;
      c.name = fmt::format("cluster {}: {} GPUs of {} GB, {} layers of {}, batch {}", i + 1, p.machine.gpus,
                           p.machine.memory / 1000000000, p.model.layers, p.model.hidden, p.global_batch);
      all.push_back(c);
    }
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{sizeof(Problem), 4 * kPlan * n}, {8 * n, 4 * kPlan}, 0};
  }
  bool host_reads_inputs() const override { return true; }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const World world = world_of(c);
    as<Problem>(in[0])[0] = world.problem;
    const std::vector<Plan> plans = world.plans();
    Draw draw(c.secret + 1);
    const auto to = as<std::int32_t>(in[1]);
    for (std::size_t i = 0; i < to.size(); i += kPlan) {
      const Plan& p = plans[static_cast<std::size_t>(draw.integer(0, static_cast<int>(plans.size()) - 1))];
      const int values[kPlan] = {p.data, p.tensor, p.pipeline, p.micro_batch, p.chunks, p.recompute ? 1 : 0, p.shard};
      std::copy_n(values, kPlan, to.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "plan", 0, 0}; }

  std::size_t most_questions(const Case&) const override { return kSimulations; }
  Answer answer(const Case& c, std::span<const Question> asked) const override {
    const World world = world_of(c);
    const Plan p = plan_of(asked.back().value);
    return {{world.impossible(p).empty() ? world.seconds(p) : -1}};
  }
  Verdict verify_questions(const Case& c, std::span<const Question> asked) const override {
    const World world = world_of(c);
    for (const Question& q : asked)
      if (const std::string why = world.impossible(plan_of(q.value)); !why.empty())
        return {false, fmt::format("a plan was simulated that is impossible: {}: {}", text_of(plan_of(q.value)), why),
                "a plan was simulated that is impossible", "questions"};
    return {};
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const World world = world_of(c);
    const auto given = as<std::int32_t>(in[1]);
    const auto bytes = as<std::int64_t>(out[0]);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const Plan p = plan_of(given.subspan(kPlan * i, kPlan));
      if (bytes[i] != world.memory(p))
        return {false,
                fmt::format("memory_of: {}: {} bytes are right, got {}{}", text_of(p), world.memory(p), bytes[i],
                            stages(world, p)),
                "memory_of is wrong"};
    }
    const Plan chosen = plan_of(as<std::int32_t>(out[1]));
    if (const std::string why = world.impossible(chosen); !why.empty())
      return {false, fmt::format("planner returned what is impossible: {}: {}", text_of(chosen), why),
              "what planner returned is impossible"};
    if (world.memory(chosen) > world.problem.machine.memory)
      return {false,
              fmt::format("planner returned what does not fit: {} takes {} bytes, and a GPU has {}", text_of(chosen),
                          world.memory(chosen), world.problem.machine.memory),
              "what planner returned does not fit into the memory"};
    return {};
  }
  std::vector<Mark> marks(const Case& c, ConstBuffers in, ConstBuffers out,
                          std::span<const Question> asked) const override {
    const World world = world_of(c);
    const auto best = best_.get(c, in, [&] { return search(world); });
    const Plan chosen = plan_of(as<std::int32_t>(out[1]));
    const double regret = world.seconds(chosen) / best->seconds;
    return {{"time", regret, "x the fastest",
             fmt::format("{} takes {:.3f} x the time of the fastest plan ({}), after {} simulations", text_of(chosen),
                         regret, text_of(best->plan), asked.size()),
             "the chosen plan is not near the fastest"}};
  }

 private:
  struct Best {
    Plan plan;
    double seconds;
  };
  static World world_of(const Case& c) { return World(c.secret, static_cast<int>(c.size[1])); }
  static Best search(const World& world) {
    const std::vector<Plan> plans = world.plans();
    Best best{{}, INFINITY};
    std::mutex mutex;
    parallel_for(
        plans.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t i = from; i < to; ++i) {
            if (world.memory(plans[i]) > world.problem.machine.memory) continue;
            const double seconds = world.seconds(plans[i]);
            std::lock_guard lock(mutex);
            if (seconds < best.seconds) best = {plans[i], seconds};
          }
        },
        16);
    return best;
  }
  static std::string stages(const World& world, const Plan& p) {
    std::string text;
    for (int s = 0; s < p.pipeline; s += std::max(1, p.pipeline - 1)) {
      const auto b = world.bytes(p, s);
      text += fmt::format("; stage {}: weights {}, gradients {}, optimizer {}, activations {}, logits {}", s, b[0],
                          b[1], b[2], b[3], b[4]);
    }
    return text;
  }
  Memo<Best> best_{16};
};

}  // namespace

std::unique_ptr<TaskCheck> planner() { return std::make_unique<Planner>(); }

}  // namespace ridge::lab::parallel_3d
