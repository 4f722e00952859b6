#include "training_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernel_costs.hpp"
#include "pipeline_order.hpp"
#include "stage.hpp"
#include "step_network.hpp"

namespace ridge::network {

namespace {

class Step {
 public:
  Step(const Transformer& model, const Layout& layout, const Cluster& cluster, bool timeline, std::uint64_t seed)
      : m_(model),
        l_(layout),
        gpu_(cluster.gpu),
        links_(cluster.fabric, layout.ranks()),
        slow_(slowest_of(cluster.gpu, layout.ranks(), layout.tensor)),
        keep_(timeline),
        network_(step_network(links_, model, layout, seed)),
        times_(layer_times(model, layout, cluster.gpu, network_.tensor)),
        clocks_(static_cast<std::size_t>(layout.pipeline)) {
    for (StageClock& clock : clocks_) clock.beside = network_.tensor_beside_data;
  }

  StepReport run() {
    prepare_stages();
    run_passes();
    finish();
    account();
    return std::move(report_);
  }

 private:
  struct Chunk {
    std::vector<Segment> forward, backward;
    std::vector<double> ready;  // of its segments' weights in the first pass; empty: they are there
    Work work, again;           // of a forward and a backward pass, and what is run again for the latter
  };

  bool sharded() const { return l_.shard == 3 && l_.data > 1; }

  // --- the stages ---

  Segment segment(const Work& work, double parameters, int bytes) const {
    const double own = parameters / l_.tensor, gradients = l_.gradient_bytes * own;
    return {work.seconds() + slow_ * work.kernels(),
            own,
            network_.data.all_gather(bytes * own),
            l_.shard == 0 ? network_.data.all_reduce(gradients) : network_.data.reduce_scatter(gradients),
            work.messages,
            bytes};
  }
  // ZeRO-3 gathers into one buffer, out of which weights are copied, and reduces one into which gradients are.
  double copies(double parameters, int bytes) const {
    return sharded() ? memory_seconds(gpu_, bytes * parameters / l_.tensor) : 0;
  }

  void prepare_stages() {
    chunks_.resize(static_cast<std::size_t>(l_.pipeline) * l_.chunks);
    for (int s = 0; s < l_.pipeline; ++s)
      for (int c = 0; c < l_.chunks; ++c) {
        Chunk& chunk = at(s, c);
        auto add = [&](Work f, Work b, const Work& again, double parameters, int bytes = 2) {
          f.elementwise += copies(parameters, 2 * bytes);
          b.elementwise += copies(parameters, 2 * bytes + 2 + l_.gradient_bytes);
          chunk.forward.push_back(segment(f, parameters, bytes));
          chunk.backward.push_back(segment(b + again, parameters, bytes));
          chunk.work.add(f + b);
          chunk.again.add(again);
        };
        if (has_embedding(l_, s, c))
          add(times_.embedding_forward, times_.embedding_backward, {}, m_.embedding_parameters());
        for (int i = 0; i < layers_of(m_, l_, s, c); ++i)
          add(times_.forward, times_.backward, times_.recomputed, m_.layer_parameters(), l_.fp8_gather ? 1 : 2);
        if (has_head(l_, s, c)) add(times_.head_forward, times_.head_backward, {}, head_parameters(m_, l_) + m_.hidden);
        std::reverse(chunk.backward.begin(), chunk.backward.end());
      }
    if (l_.data == 1 || !l_.overlap_data || l_.shard == 0 || l_.shard == 3) return;
    // Weights that the last step updated travel under the first passes.
    for (int s = 0; s < l_.pipeline; ++s)
      for (int c = 0; c < l_.chunks; ++c)
        at(s, c).ready = clocks_[static_cast<std::size_t>(s)].gather_all({&at(s, c).forward});
  }

  Chunk& at(int stage, int chunk) { return chunks_[static_cast<std::size_t>(chunk) * l_.pipeline + stage]; }

  // Gradients are reduced in each backward pass where only a part of them is kept, else in the last.
  Traffic traffic_of(const Pass& pass) const {
    if (pass.forward) return {sharded(), false, false};
    const bool last = pass.micro_batch == l_.micro_batches() - 1;
    return {sharded(), l_.data > 1 && l_.overlap_data && (l_.shard >= 2 || last), true};
  }

  // --- the passes of one replica ---

  void run_passes() {
    const int P = l_.pipeline, m = l_.micro_batches(), last = P * l_.chunks - 1;
    const std::size_t all = static_cast<std::size_t>(last + 1) * static_cast<std::size_t>(m);
    std::vector<double> forward(all, NAN), backward(all, NAN);  // ends, by chunk of the model and micro-batch
    auto index = [&](int g, int i) { return static_cast<std::size_t>(g) * static_cast<std::size_t>(m) + i; };
    std::vector<std::vector<Pass>> order;
    for (int s = 0; s < P; ++s) order.push_back(pipeline_order(P, s, l_.chunks, m));
    std::vector<std::size_t> next(static_cast<std::size_t>(P), 0);
    std::vector<int> waiting(static_cast<std::size_t>(P));  // stages that may be able to go on
    std::iota(waiting.rbegin(), waiting.rend(), 0);
    while (!waiting.empty()) {
      const int s = waiting.back();
      const auto stage = static_cast<std::size_t>(s);
      waiting.pop_back();
      for (; next[stage] < order[stage].size(); ++next[stage]) {
        const Pass& p = order[stage][next[stage]];
        const int g = p.chunk * P + s;
        double from = 0;  // when its input is there
        if (p.forward && g > 0) from = forward[index(g - 1, p.micro_batch)];
        if (!p.forward && g == last) from = forward[index(g, p.micro_batch)];
        if (!p.forward && g < last) from = backward[index(g + 1, p.micro_batch)];
        if (std::isnan(from)) break;
        if (p.forward ? g > 0 : g < last) from = arrival(s, p.forward ? (s + P - 1) % P : (s + 1) % P, from);
        (p.forward ? forward : backward)[index(g, p.micro_batch)] = run_pass(s, p, from);
        if (p.forward && g < last) waiting.push_back((s + 1) % P);
        if (!p.forward && g > 0) waiting.push_back((s + P - 1) % P);
      }
    }
    for (std::size_t s = 0; s < next.size(); ++s)
      if (next[s] < order[s].size()) throw std::logic_error("the pipeline's order does not end");
  }

  // When a message that leaves a stage at second `at` is there. It shares adapters with the data-parallel groups of
  // both stages while these exchange gradients or weights.
  double arrival(int stage, int sender, double at) {
    StageClock& here = clocks_[static_cast<std::size_t>(stage)];
    StageClock& there = clocks_[static_cast<std::size_t>(sender)];
    if (here.network <= at && there.network <= at) return at + network_.stage_seconds;
    const double seconds = network_.stage_seconds * network_.stages_beside_data.first;
    for (StageClock* clock : {&here, &there})
      clock->give_way(at, seconds * (1 - 1 / network_.stages_beside_data.second));
    return at + seconds;
  }

  double run_pass(int s, const Pass& p, double from) {
    StageClock& clock = clocks_[static_cast<std::size_t>(s)];
    Chunk& chunk = at(s, p.chunk);
    const double start = std::max(clock.compute, from);
    StageClock::Seen reduced_in;
    if (keep_)
      reduced_in = [&](double a, double b) {
        report_.timeline.push_back({Span::Kind::reduce, s, p.chunk, p.micro_batch, a, b});
      };
    static const std::vector<double> there;
    clock.run(p.forward ? chunk.forward : chunk.backward, start, traffic_of(p),
              p.forward && p.micro_batch == 0 ? chunk.ready : there, reduced_in);
    if (keep_)
      report_.timeline.push_back(
          {p.forward ? Span::Kind::forward : Span::Kind::backward, s, p.chunk, p.micro_batch, start, clock.compute});
    return clock.compute;
  }

  // --- after the passes ---

  void finish() {
    for (int s = 0; s < l_.pipeline; ++s) {
      StageClock& clock = clocks_[static_cast<std::size_t>(s)];
      double end = std::max(clock.compute, clock.network);
      if (l_.data > 1 && !l_.overlap_data)
        for (int c = 0; c < l_.chunks; ++c)
          for (const Segment& x : at(s, c).backward) {
            end += x.reduce + (l_.shard == 1 ? x.gather : 0);
            clock.reduced += x.parameters;
            if (l_.shard == 1) clock.count_gathered(x);
          }
      if (m_.tied && l_.pipeline > 1 && (s == 0 || s == l_.pipeline - 1))
        end += network_.ends.all_reduce(l_.gradient_bytes * double(m_.hidden) * m_.vocabulary / l_.tensor);
      end += norm_seconds();
      const double own = parameters_of(m_, l_, s) / (l_.shard >= 1 ? l_.data : 1);
      const double update = memory_seconds(gpu_, (update_bytes() + l_.gradient_bytes) * own);
      if (keep_) report_.timeline.push_back({Span::Kind::update, s, 0, 0, end, end + (1 + slow_) * update});
      report_.update += update / l_.pipeline;
      report_.slowest += slow_ * update / l_.pipeline;
      report_.exposed_data += (clock.exposed + end - clock.compute) / l_.pipeline;
      report_.seconds = std::max(report_.seconds, end + (1 + slow_) * update);
    }
  }

  // Bytes of a copy that takes as long as the optimizer does for a parameter, besides its gradient. AdamW was measured
  // with one of 4 bytes.
  double update_bytes() const {
    const double one = cost::kAdamW + cost::kNormAndScale + cost::kWeightToBf16 - 4;
    return one + (l_.fused_update ? 0 : cost::kUnfusedAdamW);
  }

  // The global norm of the gradients: eight bytes through a tree of all ranks, before any weight is updated.
  double norm_seconds() const {
    const int ranks = l_.ranks();
    return ranks == 1 ? 0 : 2 * std::ceil(std::log2(ranks)) * links_.latency(0, ranks - 1);
  }

  void account() {
    const double m = l_.micro_batches(), P = l_.pipeline, others = double(l_.data - 1) / l_.data;
    for (const Chunk& chunk : chunks_) {
      report_.work.add(chunk.work, m / P);
      report_.recomputed += chunk.again.seconds() * m / P;
      report_.slowest += slow_ * (chunk.work.kernels() + chunk.again.kernels()) * m / P;
      report_.tensor_bytes += (chunk.work.sent + chunk.again.sent) * m / P;
    }
    for (const StageClock& clock : clocks_)
      report_.data_bytes +=
          others * (clock.gathered_bytes + (l_.shard == 0 ? 2 : 1) * l_.gradient_bytes * clock.reduced) / P;
    report_.bubble = report_.seconds - report_.work.seconds() - report_.recomputed - report_.update -
                     report_.exposed_data - report_.slowest;
    if (std::fabs(report_.bubble) < 1e-9 * report_.seconds) report_.bubble = 0;  // what rounding leaves
    report_.memory = memory_of(m_, l_);
    report_.tokens = double(l_.global_batch) * m_.sequence;
    report_.flops = training_flops(m_) * report_.tokens / l_.ranks();
    report_.pipeline_bytes = network_.stage_bytes * 2 * m * (l_.chunks - 1 / P);
  }

  const Transformer& m_;
  const Layout& l_;
  const Gpu& gpu_;
  Links links_;
  double slow_;  // by which kernels of the slowest GPU take longer
  bool keep_;
  StepNetwork network_;
  LayerTimes times_;
  std::vector<Chunk> chunks_;  // of the model, in order
  std::vector<StageClock> clocks_;
  StepReport report_;
};

}  // namespace

StepReport simulate_step(const Transformer& model, const Layout& layout, const Cluster& cluster, bool timeline,
                         std::uint64_t seed) {
  for (const std::string& why : {misfit(layout, model), misfit(layout, cluster.gpu)})
    if (!why.empty()) throw std::invalid_argument(why);
  return Step(model, layout, cluster, timeline, seed).run();
}

}  // namespace ridge::network
