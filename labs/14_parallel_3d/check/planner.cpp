// Plans for clusters that are drawn from the seed. Times are those of the cluster simulator (runtime/network), of which
// the judge asks for every plan that there is: its search leaves out nothing but what is impossible or does not fit.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <mutex>

#include "checks/memo.hpp"
#include "world.hpp"

namespace ridge::lab::parallel_3d {

namespace {

constexpr std::size_t kPlan = 7;  // ints

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
  // Sizes: plans whose memory is asked for, the number of the cluster.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const int clusters = r.mode == Mode::check ? 4 : 8;
    for (int i = 0; i < clusters; ++i) {
      Case c;
      c.size = {24, i};
      std::uint64_t k = 0;
      do c.secret = one_way_seed(r.seed, fmt::format("cluster {}", i), k++);
      while (!World(c.secret, i).is_a_search());
      const Problem p = World(c.secret, i).problem;
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
    Problem& problem = as<Problem>(in[0])[0];
    std::memset(&problem, 0, sizeof problem);  // the gaps between members, too
    problem.model = world.problem.model, problem.machine = world.problem.machine;
    problem.global_batch = world.problem.global_batch;
    const std::vector<Plan> plans = world.plans();
    Draw draw(one_way_seed(c.secret, "plans"));
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
