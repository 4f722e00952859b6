// Task `cross_entropy` of lab 09: the vocabulary shared by ranks.
#include "common.hpp"

namespace ridge::lab::tensor_parallel {

namespace {

// Sizes of a case: N, columns of a rank, V.
class CrossEntropy : public Task {
 public:
  std::string id() const override { return "cross_entropy"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 11, 2, std::max(2, 2 * p - 3));  // the last rank has padding only
      add(all, p, 700, 3, 3 * p - 1);
      add(all, p, 5, 1301, 1301 * p - 7);
      add(all, p, 37, 301, r.mode == Mode::grade ? 301 * p - random_size(r.seed, 2, 250) : 301 * p - 44);
    }
    if (r.ranks.empty()) return all;
    if (r.backend == Backend::cuda)
      add(all, measured_ranks(r), 1024, (50304 + measured_ranks(r) - 1) / measured_ranks(r), 50257);
    else
      add(all, r.ranks.back(), 96, 1024, 1024 * r.ranks.back() - 40);
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const Size N = at(c, 0), logits = N * at(c, 1) * 4;
    return {{logits, N * 4}, {N * 4, logits}, (3 * static_cast<Size>(c.ranks) + 6) * N * 4};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Size N = at(c, 0), Vs = at(c, 1), V = at(c, 2), first = static_cast<Size>(c.rank) * Vs;
    const auto logits = floats(in[0]);
    fill_normal(logits, seed);
    parallel_for(
        N,
        [&](Size from, Size to) {
          for (Size n = from; n < to; ++n) {
            // exp overflows in most rows; in some rows one rank has all the weight.
            const double far = n % 3 == 1 ? 600 : n % 3 == 2 ? -600 : 0;
            const double here = n % 4 == 3 ? -25 * static_cast<double>((static_cast<Size>(c.rank) + n / 4) % 3) : 0;
            const auto row = logits.subspan(n * Vs, Vs);
            // One logit may be far above those of all ranks: the maximum over some ranks is not enough.
            const Size tall = n % 5 == 2 ? random_bits(c.shared_seed, 1000 + n) % V : V;
            for (Size v = 0; v < Vs; ++v)
              row[v] = first + v >= V ? (n % 2 == 0 ? 3e4f : std::numeric_limits<float>::quiet_NaN())
                                      : static_cast<float>(3 * row[v] + far + here + (first + v == tall ? 130 : 0));
          }
        },
        64);
    fill_integers(as<std::int32_t>(in[1]), c.shared_seed, 0, static_cast<std::int32_t>(V) - 1);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Size N = at(c, 0), Vs = at(c, 1), V = at(c, 2);
    const auto targets = as<std::int32_t>(in[1]);
    auto logit = [&](Size n, Size v) {
      return static_cast<double>(of_rank(in, c.ranks, static_cast<int>(v / Vs), 0)[n * Vs + v % Vs]);
    };
    const std::vector<Size> rows = sample(N, N * V <= Size{8} << 20 ? N : 64, out, 1);
    struct Row {
      double top, total;
    };
    const auto made = spread(rows, [&](Size n) {
      Row r{-INFINITY, 0};
      for (Size v = 0; v < V; ++v) r.top = std::max(r.top, logit(n, v));
      for (Size v = 0; v < V; ++v) r.total += std::exp(logit(n, v) - r.top);
      return r;
    });
    Elements losses(1);
    for (Size k = 0; k < rows.size(); ++k) {
      const Size n = rows[k];
      const double of_target = logit(n, static_cast<Size>(targets[n])), log = std::log(made[k].total);
      const double error = kUnit * (4 + log + std::fabs(made[k].top) + std::fabs(of_target));
      losses.add(n, 0, {log + made[k].top - of_target, square(error), 0});
    }
    for (int r = 0; r < c.ranks; ++r) {
      const auto got = of_rank(out, c.ranks, r, 0);
      Verdict v = losses.compare(got, c.ranks, r, "losses", [&] { return guesses(c, in, losses, got); });
      if (v.ok) continue;
      const Size first = static_cast<Size>(r) * Vs;
      if (r > 0 && first >= V && std::all_of(got.begin(), got.end(), [](float x) { return x == 0; })) {
        v.message += fmt::format(
            "; rank 0's losses are right, and rank {} has padding only (its columns begin at {}, V is {}): it needs "
            "the numbers of the other ranks, since losses are alike on all ranks",
            r, first, V);
        v.cause = Cause::none;
      }
      return v;
    }
    for (int r = 0; r < c.ranks; ++r) {
      Elements d(Vs);
      for (Size k = 0; k < rows.size(); ++k)
        for (Size i = 0; i < Vs; ++i) {
          const Size n = rows[k], v = static_cast<Size>(r) * Vs + i;
          const double far = v < V ? logit(n, v) - made[k].top : 0, p = v < V ? std::exp(far) / made[k].total : 0;
          const double value = p - (static_cast<Size>(targets[n]) == v ? 1 : 0), scale = 1 / static_cast<double>(N);
          const double error = p * (6 + std::fabs(far) + std::fabs(made[k].top)) + 2 * std::fabs(value);
          d.add(n, i, {scale * value, square(scale * kUnit * error), scale});
        }
      if (Verdict v = d.compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dlogits"); !v.ok) return v;
    }
    return same_bits(out, c.ranks, 0, 0, N, "losses");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    // A gather of the three numbers is one collective in place of two: more bytes, fewer latencies.
    const Size N = at(c, 0), p = static_cast<Size>(c.ranks);
    Traffic t(c.ranks);
    t.all_reduce(N, "all-reduces of a maximum").all_reduce(N, "a sum").all_reduce(N, "and a logit of each row");
    t.bytes = std::max(t.bytes, (p - 1) * 3 * N * p * 4);
    return t.compare(messages);
  }
  Work work(const Case& c) const override {
    const double logits = 4.0 * static_cast<double>(at(c, 0) * at(c, 1));
    return {static_cast<double>(at(c, 0) * at(c, 1)), "element", 2 * logits, logits};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const double N = static_cast<double>(at(c, 0)), logits = 4 * N * static_cast<double>(at(c, 1));
    return {{"virtual_time_over_bound", device().at("launch_call") + stream_seconds(logits) +
                                            stream_seconds(2 * logits) + all_reduce_seconds(4 * N, c.ranks) +
                                            all_reduce_seconds(8 * N, c.ranks)}};
  }

 private:
  // Losses of known mistakes.
  static std::vector<Guess> guesses(const Case& c, ConstBuffers in, const Elements& losses,
                                    std::span<const float> got) {
    const Size Vs = at(c, 1), V = at(c, 2), p = static_cast<Size>(c.ranks);
    const auto targets = as<std::int32_t>(in[1]);
    auto row = [&](Size n, Size r) { return of_rank(in, c.ranks, static_cast<int>(r), 0).subspan(n * Vs, Vs); };
    auto valid = [&](Size r) { return r * Vs >= V ? 0 : std::min(Vs, V - r * Vs); };
    auto top_of = [](std::span<const float> x) {
      double top = -INFINITY;
      for (float v : x) top = v > top ? static_cast<double>(v) : top;  // no NaN
      return top;
    };
    // The loss with columns(r) of rank r; `own`: each rank's sum is made with its own maximum.
    auto loss = [&](Size n, auto columns, bool own) {
      double top = -INFINITY, total = 0;
      for (Size r = 0; r < p; ++r) top = std::max(top, top_of(row(n, r).first(columns(r))));
      for (Size r = 0; r < p; ++r) {
        const auto x = row(n, r).first(columns(r));
        const double taken = own ? top_of(x) : top;
        for (float v : x) total += std::isnan(v) ? 0 : std::exp(static_cast<double>(v) - taken);
      }
      const auto target = static_cast<Size>(targets[n]);
      return std::log(total) + top - static_cast<double>(row(n, target / Vs)[target % Vs]);
    };
    // Each rank adds the logit of its column that is nearest to the target.
    auto elsewhere = [&](Size n, double right) {
      const auto target = static_cast<long>(targets[n]);
      for (Size r = 0; r < p; ++r) {
        const long own = target - static_cast<long>(r * Vs), most = static_cast<long>(valid(r)) - 1;
        if (most >= 0 && (own < 0 || own > most))
          right -= static_cast<double>(row(n, r)[static_cast<Size>(std::clamp(own, 0L, most))]);
      }
      return right;
    };
    std::vector<Guess> all = {
        {"the sums of the ranks are added as they are, each made with its rank's own maximum: bring each to the "
         "maximum of all ranks first",
         losses.changed([&](Size n, double) { return loss(n, valid, true); })},
        {fmt::format("columns from V = {} on are padding, and have changed the loss: leave them out", V),
         losses.changed([&](Size n, double) {
           return loss(
               n, [&](Size) { return Vs; }, false);
         })},
        {"ranks that do not have the target's column have added a logit for it: they must add 0",
         losses.changed(elsewhere)}};
    // One rank's maximum is subtracted on all ranks: exp of what is far above it is inf, and so is the loss.
    constexpr double kMostExponent = 88.7;  // exp of more is no float
    for (Size r = 0; r < p; ++r) {
      const Size lost = static_cast<Size>(std::count_if(got.begin(), got.end(), [](float x) { return std::isinf(x); }));
      all.push_back(
          {fmt::format("in each of the {} rows that are wrong another rank has a logit more than {} above rank "
                       "{}'s largest, and in no other row: exp of that is inf. Is the maximum that of all "
                       "ranks (ncclMax)?",
                       lost, kMostExponent, r),
           losses.changed([&](Size n, double right) {
             double top = -INFINITY;
             for (Size s = 0; s < p; ++s) top = std::max(top, top_of(row(n, s).first(valid(s))));
             return top - top_of(row(n, r).first(valid(r))) > kMostExponent ? INFINITY : right;
           })});
    }
    return all;
  }
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t Vs, std::int64_t V) {
    all.push_back(made(p, {N, Vs, V}, fmt::format("N {}, V {}, {} columns a rank", N, V, Vs)));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> cross_entropy() { return std::make_unique<CrossEntropy>(); }

}  // namespace ridge::lab::tensor_parallel
