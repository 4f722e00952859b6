#include "training_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "pipeline_order.hpp"
#include "stage.hpp"

namespace ridge::network {

namespace {

constexpr double kUpdateBytes =
    34;  // of an element: gradient, weight, two moments read; the last three and bf16 written; norm

class Step {
 public:
  Step(const Transformer& model, const Layout& layout, const Cluster& cluster, bool timeline, std::uint64_t seed)
      : m_(model),
        l_(layout),
        gpu_(cluster.gpu),
        links_(cluster.fabric, layout.ranks()),
        seed_(seed),
        keep_(timeline) {}

  StepReport run() {
    measure_groups();
    times_ = layer_times(m_, l_, gpu_, tensor_);
    prepare_stages();
    std::vector<double> ready(static_cast<std::size_t>(l_.pipeline) * l_.chunks,
                              0);  // last backward of a chunk, all replicas
    for (int d = 0; d < l_.data; ++d) {
      replica(d);
      for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = std::max(ready[i], last_backward_[i]);
    }
    finish(ready);
    account();
    return std::move(report_);
  }

 private:
  struct Chunk {
    std::vector<Segment> forward, backward;
    Timed f, b;                    // of an ordinary pass
    std::vector<double> gathered;  // the second at which each segment's weights are there; empty: from the start
    Work work;                     // of a forward and a backward pass
    double recomputed = 0;
    double reduced = 0;  // s of the reduction of one segment's gradients
  };

  // --- the network ---

  void measure_groups() {
    if (l_.tensor > 1) tensor_ = ring_cost(links_, tensor_groups(l_), seed_);
    if (l_.data > 1) data_ = ring_cost(links_, data_groups(l_), seed_ + 1);
    if (l_.pipeline == 1) return;
    message_bytes_ = 2.0 * l_.micro_batch * m_.sequence * m_.hidden / l_.tensor;
    std::vector<std::pair<int, int>> pairs;
    for (int r = 0; r < l_.ranks(); ++r) {
      Place to = place_of(l_, r);
      to.pipeline = (to.pipeline + 1) % l_.pipeline;
      if (to.pipeline != 0 || l_.chunks > 1) pairs.emplace_back(r, rank_of(l_, to));
    }
    const std::vector<MessageCost> costs = message_costs(links_, pairs, seed_ + 2);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      double& slowest = message_seconds_[static_cast<std::size_t>(place_of(l_, pairs[i].first).data)];
      slowest = std::max(slowest, costs[i].seconds(message_bytes_));
    }
  }

  // --- the stages ---

  double gather_seconds(double parameters) const { return data_.all_gather(2 * parameters / l_.tensor); }
  double reduce_seconds(double parameters) const {
    const double bytes = l_.gradient_bytes * parameters / l_.tensor;
    return l_.shard == 0 ? data_.all_reduce(bytes) : data_.reduce_scatter(bytes);
  }

  void prepare_stages() {
    chunks_.resize(static_cast<std::size_t>(l_.pipeline) * l_.chunks);
    const bool sharded = l_.shard == 3 && l_.data > 1;
    for (int s = 0; s < l_.pipeline; ++s)
      for (int c = 0; c < l_.chunks; ++c) {
        Chunk& chunk = at(s, c);
        auto add = [&](const Work& f, const Work& b, const Work& again, double parameters) {
          const double gather = gather_seconds(parameters), reduce = reduce_seconds(parameters);
          // ZeRO-3 gathers into one buffer and copies the weights out of it; gradients are copied into one, as floats.
          const double out = sharded ? memory_seconds(gpu_, 4 * parameters / l_.tensor) : 0;
          const double in = sharded ? memory_seconds(gpu_, (2 + l_.gradient_bytes) * parameters / l_.tensor) : 0;
          chunk.forward.push_back({f.seconds() + out, gather, 0});
          chunk.backward.push_back({b.seconds() + again.seconds() + out + in, sharded ? gather : 0, reduce});
          chunk.work += f + b;
          chunk.recomputed += again.seconds();
        };
        if (has_embedding(l_, s, c))
          add(times_.embedding_forward, times_.embedding_backward, {}, m_.embedding_parameters());
        for (int i = 0; i < layers_of(m_, l_, s, c); ++i)
          add(times_.forward, times_.backward, times_.recomputed, m_.layer_parameters());
        if (has_head(l_, s, c)) add(times_.head_forward, times_.head_backward, {}, m_.head_parameters() + m_.hidden);
        std::reverse(chunk.backward.begin(), chunk.backward.end());
        std::vector<Segment> plain = chunk.forward, back = chunk.backward;
        if (!sharded)
          for (Segment& x : plain) x.gather = 0;
        if (!sharded)
          for (Segment& x : back) x.reduce = 0;
        chunk.f = run_segments(plain, false);
        // ZeRO-3 keeps the last layer's weights from the forward pass.
        chunk.b = run_segments(back, true);
      }
    // Weights that the last step updated travel under the first passes.
    if (l_.data == 1 || !l_.overlap_data || l_.shard == 0 || l_.shard == 3) return;
    for (int s = 0; s < l_.pipeline; ++s) {
      double network = 0;
      for (int c = 0; c < l_.chunks; ++c)
        for (const Segment& x : at(s, c).forward) at(s, c).gathered.push_back(network += x.gather);
    }
  }

  // Seconds of a pass that begins at `start`: the first of a chunk may wait for weights.
  double pass_seconds(const Chunk& chunk, const Pass& pass, double start) {
    if (!pass.forward) return chunk.b.seconds;
    if (pass.micro_batch > 0 || chunk.gathered.empty()) return chunk.f.seconds;
    double now = start;
    for (std::size_t i = 0; i < chunk.forward.size(); ++i)
      now = std::max(now, chunk.gathered[i]) + chunk.forward[i].seconds;
    waited_ += now - start - chunk.f.seconds;
    return now - start;
  }

  Chunk& at(int stage, int chunk) { return chunks_[static_cast<std::size_t>(chunk) * l_.pipeline + stage]; }

  // --- a replica's pipeline ---

  void replica(int d) {
    const int P = l_.pipeline, v = l_.chunks, m = l_.micro_batches();
    const double message = message_seconds_[static_cast<std::size_t>(d)];
    const std::size_t all = static_cast<std::size_t>(P) * v * m;
    std::vector<double> forward(all, NAN), backward(all, NAN);  // ends, by chunk of the model and micro-batch
    std::vector<std::vector<Pass>> order;
    for (int s = 0; s < P; ++s) order.push_back(pipeline_order(P, s, v, m));
    std::vector<std::size_t> next(static_cast<std::size_t>(P), 0);
    std::vector<double> clock(static_cast<std::size_t>(P), 0);
    auto index = [&](int g, int i) { return static_cast<std::size_t>(g) * m + i; };
    std::vector<int> ready(static_cast<std::size_t>(P));
    std::iota(ready.rbegin(), ready.rend(), 0);
    std::vector<bool> listed(static_cast<std::size_t>(P), true);
    auto wake = [&](int s) {
      if (!listed[static_cast<std::size_t>(s)]) ready.push_back(s), listed[static_cast<std::size_t>(s)] = true;
    };
    while (!ready.empty()) {
      const int s = ready.back();
      const auto stage = static_cast<std::size_t>(s);
      ready.pop_back();
      listed[stage] = false;
      for (; next[stage] < order[stage].size(); ++next[stage]) {
        const Pass& p = order[stage][next[stage]];
        const int g = p.chunk * P + s, last = P * v - 1;
        double from = 0;  // when its input is there
        if (p.forward && g > 0) from = forward[index(g - 1, p.micro_batch)] + message;
        if (!p.forward)
          from = g < last ? backward[index(g + 1, p.micro_batch)] + message : forward[index(g, p.micro_batch)];
        if (std::isnan(from)) break;
        const Chunk& chunk = at(s, p.chunk);
        const double start = std::max(clock[stage], from);
        clock[stage] = start + pass_seconds(chunk, p, start);
        (p.forward ? forward : backward)[index(g, p.micro_batch)] = clock[stage];
        if (keep_ && d == 0)
          report_.timeline.push_back(
              {p.forward ? Span::Kind::forward : Span::Kind::backward, s, p.chunk, p.micro_batch, start, clock[stage]});
        if (p.forward && g < last) wake((s + 1) % P);
        if (!p.forward && g > 0) wake((s + P - 1) % P);
      }
    }
    last_backward_.assign(static_cast<std::size_t>(P) * v, 0);
    for (int g = 0; g < P * v; ++g) last_backward_[static_cast<std::size_t>(g)] = backward[index(g, m - 1)];
    if (std::any_of(backward.begin(), backward.end(), [](double t) { return std::isnan(t); }))
      throw std::logic_error("the pipeline's order does not end");
    for (int s = 0; s < P; ++s)
      end_[static_cast<std::size_t>(s)] =
          std::max(end_[static_cast<std::size_t>(s)], clock[static_cast<std::size_t>(s)]);
  }

  // --- after the passes ---

  // Gradients of a chunk's segments become ready one after the other in its last backward pass.
  void finish(const std::vector<double>& ready) {
    for (int s = 0; s < l_.pipeline; ++s) {
      const double passes = end_[static_cast<std::size_t>(s)];
      double network = 0;
      for (int c = l_.chunks; c-- > 0;) {
        const Chunk& chunk = at(s, c);
        const double end = ready[static_cast<std::size_t>(c) * l_.pipeline + s];
        for (std::size_t i = 0; i < chunk.backward.size(); ++i) {
          const double there = l_.overlap_data ? end - (chunk.b.seconds - chunk.b.ends[i]) : passes;
          const double start = std::max(network, there);
          network = start + chunk.backward[i].reduce;
          if (keep_ && chunk.backward[i].reduce > 0)
            report_.timeline.push_back({Span::Kind::reduce, s, c, static_cast<int>(i), start, network});
        }
      }
      double last = std::max(passes, network);
      if (!l_.overlap_data && (l_.shard == 1 || l_.shard == 2))
        for (int c = 0; c < l_.chunks; ++c)
          for (const Segment& x : at(s, c).forward) last += x.gather;
      const double own = parameters_of(m_, l_, s) / (l_.shard >= 1 ? l_.data : 1);
      const double update = memory_seconds(gpu_, kUpdateBytes * own);
      if (keep_) report_.timeline.push_back({Span::Kind::update, s, 0, 0, last, last + update});
      report_.update += update / l_.pipeline;
      report_.exposed_data += (last - passes) / l_.pipeline;
      report_.seconds = std::max(report_.seconds, last + update);
    }
  }

  void account() {
    const double m = l_.micro_batches(), P = l_.pipeline;
    report_.exposed_data += waited_ / l_.data / P;
    for (int s = 0; s < l_.pipeline; ++s)
      for (int c = 0; c < l_.chunks; ++c) {
        const Chunk& chunk = at(s, c);
        Work w = chunk.work;
        for (double* x : {&w.products, &w.attention, &w.elementwise, &w.exposed}) *x *= m / P;
        report_.work += w;
        report_.recomputed += chunk.recomputed * m / P;
        const double ran = m * (chunk.f.seconds + chunk.b.seconds);
        report_.exposed_data += (ran - m * (chunk.work.seconds() + chunk.recomputed)) / P;
        if (l_.data > 1) {
          double gathered = 0, reduced = 0;
          const double share = double(l_.data - 1) / l_.data / l_.tensor / P;
          const double parameters = layers_of(m_, l_, s, c) * m_.layer_parameters() +
                                    (has_embedding(l_, s, c) ? m_.embedding_parameters() : 0) +
                                    (has_head(l_, s, c) ? m_.head_parameters() : 0);
          reduced = (l_.shard == 0 ? 2 : 1) * l_.gradient_bytes * parameters * share * (l_.shard == 3 ? m : 1);
          gathered = (l_.shard == 0 ? 0 : l_.shard == 3 ? 2 * m : 1) * 2 * parameters * share;
          report_.data_bytes += gathered + reduced;
        }
      }
    report_.bubble =
        report_.seconds - report_.work.seconds() - report_.recomputed - report_.update - report_.exposed_data;
    report_.memory = memory_of(m_, l_);
    report_.tokens = double(l_.global_batch) * m_.sequence;
    report_.flops = training_flops(m_) * report_.tokens / l_.ranks();
    report_.pipeline_bytes =
        l_.pipeline == 1 ? 0 : message_bytes_ * 2 * m * l_.chunks * (l_.chunks > 1 ? 1 : (P - 1) / P);
  }

  const Transformer& m_;
  const Layout& l_;
  const Gpu& gpu_;
  Links links_;
  std::uint64_t seed_;
  bool keep_;
  RingCost tensor_, data_;
  double message_bytes_ = 0;
  std::vector<double> message_seconds_ =
      std::vector<double>(static_cast<std::size_t>(l_.data), 0);  // of a replica's slowest
  LayerTimes times_;
  std::vector<Chunk> chunks_;  // of the model, in order
  std::vector<double> last_backward_;
  std::vector<double> end_ = std::vector<double>(static_cast<std::size_t>(l_.pipeline), 0);  // of a stage's passes
  double waited_ = 0;  // for weights, by all stages of all replicas
  StepReport report_;
};

}  // namespace

StepReport simulate_step(const Transformer& model, const Layout& layout, const Cluster& cluster, bool timeline,
                         std::uint64_t seed) {
  if (const std::string why = misfit(layout, model); !why.empty()) throw std::invalid_argument(why);
  return Step(model, layout, cluster, timeline, seed).run();
}

Memory memory_of(const Transformer& m, const Layout& l) {
  Memory most;
  for (int s = 0; s < l.pipeline; ++s) {
    Memory memory;
    const double n = parameters_of(m, l, s), d = l.data;
    const double layer = m.layer_parameters() / l.tensor;
    memory.weights = l.shard == 3 ? 2 * 2 * layer : 2 * n;  // two layers gathered
    memory.gradients = l.gradient_bytes * (l.shard >= 2 ? n / d : n) + (l.shard >= 2 ? l.gradient_bytes * layer : 0);
    memory.optimizer = 12 * (l.shard >= 1 ? n / d : n);
    // Micro-batches whose backward pass is to come (Narayanan et al. 2021).
    const double m_b = l.micro_batches();
    double alive = 0;
    for (int c = 0; c < l.chunks; ++c) {
      const double layers = layers_of(m, l, s, c);
      const double there =
          l.chunks == 1
              ? std::min<double>(m_b, l.pipeline - s)
              : std::min<double>(m_b * l.chunks, 2 * (l.pipeline - s - 1) + (l.chunks - 1) * l.pipeline + 1) / l.chunks;
      alive += layers * there * kept_bytes(m, l);
      if (has_head(l, s, c)) alive += head_bytes(m, l);
    }
    memory.activations = alive + (l.recompute == Recompute::none ? 0 : working_bytes(m, l));
    if (memory.total() > most.total()) most = memory;
  }
  return most;
}

}  // namespace ridge::network
