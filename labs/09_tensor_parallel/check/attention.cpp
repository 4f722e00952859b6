// Task `attention` of lab 09: heads shared by ranks.
#include "guesses.hpp"

namespace ridge::lab::tensor_parallel {

namespace {

// Sizes of a case: B, T, C, heads of all ranks, hs.
class Attention : public Task {
 public:
  std::string id() const override { return "attention"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 1, 9, 10, p, 5);
      add(all, p, 2, r.mode == Mode::grade ? random_size(r.seed, 33, 47) : 23, 37, 3 * p, 10);
    }
    if (r.ranks.empty()) return all;
    if (r.backend == Backend::cuda)
      add(all, measured_ranks(r), 4, 256, 1024, 16, 64);
    else
      add(all, measured_ranks(r), 4, 64, 128, 8, 16), all.back().topology = "ethernet";
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const Dims d(c);
    const Size own = d.D / d.p, N = d.B * d.T, square_of = d.T * d.T * d.H / d.p;
    const Size all = N * d.C, weights = 4 * own * d.C + 3 * own + d.C;
    return {{all * 4, all * 4, weights * 4},
            {all * 4, all * 4, weights * 4},
            4 * (8 * N * own + (d.B + 1) * square_of + columns_scratch(std::max(d.C, 3 * own)))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Dims d(c);
    const Size own = d.D / d.p;
    fill_normal(floats(in[0]), random_bits(c.shared_seed, 100));
    fill_normal(floats(in[1]), random_bits(c.shared_seed, 101));
    Filler(floats(in[2]), seed)
        .normal(3 * own * d.C, 1 / std::sqrt(static_cast<double>(d.C)))
        .normal(3 * own, 0.5)
        .normal(d.C * own, 1 / std::sqrt(static_cast<double>(d.D)))
        .from(c.shared_seed)
        .normal(d.C, 0.5);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Dims d(c);
    const Size N = d.B * d.T, C = d.C, hs = d.hs, heads = d.H / d.p, own = heads * hs;
    const Size b_at = 3 * own * C, proj_at = b_at + 3 * own, proj_b_at = proj_at + C * own;
    Whole w{d, doubles(of_rank(in, c.ranks, 0, 0)), doubles(of_rank(in, c.ranks, 0, 1)), {}, {}, {}};
    w.qkv_w.resize(3 * d.D * C), w.qkv_b.resize(3 * d.D), w.proj_t.resize(d.D * C);
    for (Size r = 0; r < d.p; ++r) {
      const auto shard = of_rank(in, c.ranks, static_cast<int>(r), 2);
      for (Size part = 0; part < 3; ++part)
        for (Size i = 0; i < own; ++i) {
          const Size row = part * d.D + r * own + i;
          w.qkv_b[row] = shard[b_at + part * own + i];
          for (Size k = 0; k < C; ++k) w.qkv_w[row * C + k] = shard[(part * own + i) * C + k];
        }
      for (Size i = 0; i < own; ++i)
        for (Size k = 0; k < C; ++k) w.proj_t[(r * own + i) * C + k] = shard[proj_at + k * own + i];
    }
    const std::vector<double> proj_b = doubles(of_rank(in, c.ranks, 0, 2).subspan(proj_b_at, C));

    // All sequences and heads, or the rows of one sequence and the gradients of one head.
    const bool whole = 4 * N * C * d.D <= 4 * kMostMultiplications;
    const std::vector<Size> sequences = sample(d.B, whole ? d.B : 1, out, 1);
    const std::vector<Size> shown = sample(d.H, whole ? d.H : 1, out, 2);
    std::vector<Size> needed;
    for (Size b = 0; b < d.B; ++b)
      for (Size h = 0; h < d.H; ++h)
        if (std::count(sequences.begin(), sequences.end(), b) != 0 || std::count(shown.begin(), shown.end(), h) != 0)
          needed.push_back(b * d.H + h);
    const auto made = spread(needed, [&](Size i) { return w.head(i / d.H, i % d.H); });
    auto head = [&](Size b, Size h) -> const Head& {
      return made[static_cast<Size>(std::lower_bound(needed.begin(), needed.end(), b * d.H + h) - needed.begin())];
    };

    Elements y(C), dx(C), dproj_b(1);
    std::vector<Size> rows;
    for (Size b : sequences)
      for (Size t = 0; t < d.T; ++t) rows.push_back(b * d.T + t);
    struct Row {
      std::vector<RealSum> y, dx;
    };
    auto row_of = [&](Size n, Size first, Size end) {  // with the heads from `first` on, up to `end`
      Row row{std::vector<RealSum>(C), std::vector<RealSum>(C)};
      for (Size h = first; h < end; ++h) {
        const Head& one = head(n / d.T, h);
        for (Size i = 0; i < hs; ++i) {
          const Size at_i = n % d.T * hs + i, channel = h * hs + i;
          const Real o = one.o[at_i];
          for (Size k = 0; k < C; ++k) row.y[k].add(o.value, o.variance, w.proj_t[channel * C + k], 0);
          for (Size part = 0; part < 3; ++part) {
            const Real g = one.d[part][at_i];
            for (Size k = 0; k < C; ++k) row.dx[k].add(g.value, g.variance, w.qkv_w[(part * d.D + channel) * C + k], 0);
          }
        }
      }
      return row;
    };
    const auto summed = spread(rows, [&](Size n) { return row_of(n, 0, d.H); });
    // y or dx of one rank's heads alone.
    auto guesses_of_part = [&](const Elements& sum, const char* name, std::vector<RealSum> Row::*which, int r) {
      if (c.ranks == 1 || !whole) return std::vector<Guess>{};
      std::vector<double> part;
      for (Size n = 0; n < N; ++n) {
        const Row row = row_of(n, static_cast<Size>(r) * heads, static_cast<Size>(r + 1) * heads);
        for (Size k = 0; k < C; ++k) part.push_back((row.*which)[k].done().value + (which == &Row::y ? proj_b[k] : 0));
      }
      return std::vector<Guess>{guess_of_part(sum, part, "heads", name, r)};
    };
    for (Size i = 0; i < rows.size(); ++i)
      for (Size k = 0; k < C; ++k) {
        y.add(rows[i], k, plus(summed[i].y[k].done(), proj_b[k]));
        dx.add(rows[i], k, summed[i].dx[k].done());
      }
    for (Size k = 0; k < C; ++k) {
      RealSum s;
      for (Size n = 0; n < N; ++n) s.add({w.dy[n * C + k], 0, 0});
      dproj_b.add(k, 0, s.done());
    }
    for (int r = 0; r < c.ranks; ++r)
      if (Verdict v = y.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y",
                                [&] {
                                  std::vector<Guess> all = guesses_of_bias(y, proj_b, "proj_b", c.ranks, r);
                                  for (Guess& g : guesses_of_part(y, "y", &Row::y, r)) all.push_back(std::move(g));
                                  return all;
                                });
          !v.ok)
        return v;
    for (int r = 0; r < c.ranks; ++r) {
      const auto g = of_rank(out, c.ranks, r, 2);
      for (const Verdict& v : {dx.compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx",
                                          [&] { return guesses_of_part(dx, "dx", &Row::dx, r); }),
                               dproj_b.compare(g.subspan(proj_b_at, C), c.ranks, r, "gradient of proj_b", [&] {
                                 return guesses_of_sum(
                                     dproj_b, c.ranks,
                                     "was the gradient summed over the ranks, though dy is alike on all of them?");
                               })})
        if (!v.ok) return v;
    }
    // Gradients of a channel's row of qkv_w and column of proj_w.
    std::vector<Size> channels;
    for (Size h : shown)
      for (Size i = 0; i < hs; ++i) channels.push_back(h * hs + i);
    struct Channel {
      std::vector<RealSum> qkv[3], proj;
      RealSum bias[3];
    };
    const auto gradients = spread(channels, [&](Size channel) {
      Channel g;
      g.proj.resize(C);
      for (auto& q : g.qkv) q.resize(C);
      for (Size n = 0; n < N; ++n) {
        const Head& one = head(n / d.T, channel / hs);
        const Size at_i = n % d.T * hs + channel % hs;
        const Real o = one.o[at_i];
        for (Size k = 0; k < C; ++k) g.proj[k].add(w.dy[n * C + k], 0, o.value, o.variance);
        for (Size part = 0; part < 3; ++part) {
          const Real q = one.d[part][at_i];
          g.bias[part].add(q);
          for (Size k = 0; k < C; ++k) g.qkv[part][k].add(q.value, q.variance, w.x[n * C + k], 0);
        }
      }
      return g;
    });
    for (int r = 0; r < c.ranks; ++r) {
      Elements dqkv(C), dqkv_b(1), dproj(own);
      for (Size k = 0; k < channels.size(); ++k) {
        if (channels[k] / own != static_cast<Size>(r)) continue;
        const Size i = channels[k] % own;
        for (Size part = 0; part < 3; ++part) {
          dqkv_b.add(part * own + i, 0, gradients[k].bias[part].done());
          for (Size j = 0; j < C; ++j) dqkv.add(part * own + i, j, gradients[k].qkv[part][j].done());
        }
        for (Size j = 0; j < C; ++j) dproj.add(j, i, gradients[k].proj[j].done());
      }
      const auto g = of_rank(out, c.ranks, r, 2);
      for (const Verdict& v : {dqkv.compare(g.first(b_at), c.ranks, r, "gradient of qkv_w"),
                               dqkv_b.compare(g.subspan(b_at, 3 * own), c.ranks, r, "gradient of qkv_b"),
                               dproj.compare(g.subspan(proj_at, C * own), c.ranks, r, "gradient of proj_w")})
        if (!v.ok) return v;
    }
    for (const Verdict& v : {same_bits(out, c.ranks, 0, 0, N * C, "y"), same_bits(out, c.ranks, 1, 0, N * C, "dx"),
                             same_bits(out, c.ranks, 2, proj_b_at, C, "gradient of proj_b")})
      if (!v.ok) return v;
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Size all = at(c, 0) * at(c, 1) * at(c, 2);
    return Traffic(c.ranks).all_reduce(all, "an all-reduce of y").all_reduce(all, "one of dx").compare(messages);
  }
  // The kernels' time with those of nn: measured on the emulator (311 us; 319 with another compiler), as no formula gives it.
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 308e-6}}; }
  Work work(const Case& c) const override {
    const Dims d(c);
    const double N = static_cast<double>(d.B * d.T), C = static_cast<double>(d.C),
                 own = static_cast<double>(d.D) / c.ranks;
    return {2 * N * (12 * C * own + 6 * own * static_cast<double>(d.T)), "flop", 4 * (2 * N * C + 4 * C * own),
            4 * (2 * N * C + 4 * C * own)};
  }

 private:
  struct Dims {
    Size B, T, C, H, hs, p, D;
    explicit Dims(const Case& c)
        : B(at(c, 0)), T(at(c, 1)), C(at(c, 2)), H(at(c, 3)), hs(at(c, 4)), p(static_cast<Size>(c.ranks)), D(H * hs) {}
  };
  // Those of one sequence: (T, hs).
  struct Head {
    Reals o, d[3];  // the gradients of q, k and v
  };
  struct Whole {
    Dims dims;
    std::vector<double> x, dy, qkv_w, qkv_b, proj_t;  // (N, C), (N, C), (3, H, hs, C), (3, H, hs), (D, C)

    Head head(Size b, Size h) const {
      const auto [B, T, C, H, hs, p, D] = dims;
      Reals qkv[3], d_o(T * hs);
      for (Reals& r : qkv) r = Reals(T * hs);
      for (Size t = 0; t < T; ++t)
        for (Size i = 0; i < hs; ++i) {
          const double *row = &x[(b * T + t) * C], *back = &dy[(b * T + t) * C], *proj = &proj_t[(h * hs + i) * C];
          for (Size part = 0; part < 3; ++part) {
            RealSum s;
            const Size channel = part * D + h * hs + i;
            for (Size k = 0; k < C; ++k) s.add(row[k], 0, qkv_w[channel * C + k], 0);
            qkv[part].set(t * hs + i, plus(s.done(), qkv_b[channel]));
          }
          RealSum s;
          for (Size k = 0; k < C; ++k) s.add(back[k], 0, proj[k], 0);
          d_o.set(t * hs + i, s.done());
        }
      const auto& [q, k, v] = qkv;
      const double scale = 1 / std::sqrt(static_cast<double>(hs));
      Head out{Reals(T * hs), {Reals(T * hs), Reals(T * hs), Reals(T * hs)}};
      Reals P(T * T), dS(T * T);
      for (Size t = 0; t < T; ++t) {
        std::vector<Real> score(t + 1);
        double top = -INFINITY, total = 0, shared = 0;
        for (Size j = 0; j <= t; ++j) {
          RealSum s;
          for (Size i = 0; i < hs; ++i) s.add(q[t * hs + i], k[j * hs + i]);
          score[j] = s.done();
          score[j].value *= scale, score[j].variance *= scale * scale;
          top = std::max(top, score[j].value);
        }
        for (const Real& s : score) total += std::exp(s.value - top);
        for (const Real& s : score) shared += square(std::exp(s.value - top) / total) * s.variance;
        for (Size j = 0; j <= t; ++j) {
          const double value = std::exp(score[j].value - top) / total;
          // Roundings of the scores, and of the exponentials, their sum and the quotient.
          const double own = kUnit * (5 + std::fabs(score[j].value) + std::fabs(top));
          P.set(t * T + j, {value, value * value * (score[j].variance + shared + square(own)), 0});
        }
        RealSum of_row;
        std::vector<Real> dP(t + 1);
        for (Size j = 0; j <= t; ++j) {
          RealSum s;
          for (Size i = 0; i < hs; ++i) s.add(d_o[t * hs + i], v[j * hs + i]);
          dP[j] = s.done();
          of_row.add(P[t * T + j], dP[j]);
        }
        const Real taken = of_row.done();
        for (Size j = 0; j <= t; ++j) {
          const Real p_tj = P[t * T + j];
          const double difference = dP[j].value - taken.value, value = scale * p_tj.value * difference;
          dS.set(t * T + j, {value,
                             scale * scale *
                                     (square(p_tj.value) * (dP[j].variance + taken.variance) +
                                      square(difference) * p_tj.variance) +
                                 square(3 * kUnit * value),
                             0});
        }
        for (Size i = 0; i < hs; ++i) {
          RealSum o, dq;
          for (Size j = 0; j <= t; ++j) {
            o.add(P[t * T + j], v[j * hs + i]);
            dq.add(dS[t * T + j], k[j * hs + i]);
          }
          out.o.set(t * hs + i, o.done()), out.d[0].set(t * hs + i, dq.done());
        }
      }
      for (Size j = 0; j < T; ++j)
        for (Size i = 0; i < hs; ++i) {
          RealSum dk, dv;
          for (Size t = j; t < T; ++t) {
            dk.add(dS[t * T + j], q[t * hs + i]);
            dv.add(P[t * T + j], d_o[t * hs + i]);
          }
          out.d[1].set(j * hs + i, dk.done()), out.d[2].set(j * hs + i, dv.done());
        }
      return out;
    }
  };
  static void add(std::vector<Case>& all, int p, std::int64_t B, std::int64_t T, std::int64_t C, std::int64_t H,
                  std::int64_t hs) {
    all.push_back(made(p, {B, T, C, H, hs}, fmt::format("B {}, T {}, C {}, H {}, hs {}", B, T, C, H, hs)));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> attention() { return std::make_unique<Attention>(); }

}  // namespace ridge::lab::tensor_parallel
