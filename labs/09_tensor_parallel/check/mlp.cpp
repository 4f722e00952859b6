// Tasks `mlp` and `sequence_parallel` of lab 09.
#include "mlp.hpp"

namespace ridge::lab::tensor_parallel {

namespace {

class MlpWhole : public MlpTask {
 public:
  std::string id() const override { return "mlp"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 19, 10, 12);
      add(all, p, r.mode == Mode::grade ? random_size(r.seed, 60, 130) : 77, 45, 21 * p);
    }
    if (r.backend == Backend::cuda && !r.ranks.empty()) {
      add(all, measured_ranks(r), 2048, 1024, 4096);
      all.back().measured = true;
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{all(c) * 4, all(c) * 4, weights(c) * 4},
            {all(c) * 4, all(c) * 4, weights(c) * 4},
            4 * (3 * wide(c) + columns_scratch(std::max(at(c, 1), own(c))))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_normal(floats(in[0]), random_bits(c.shared_seed, 100));
    fill_normal(floats(in[1]), random_bits(c.shared_seed, 101));
    fill_weights(c, seed, Filler(floats(in[2]), seed));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    Mlp m = whole(c, in, 2);
    m.x = exact(of_rank(in, c.ranks, 0, 0)), m.dy = exact(of_rank(in, c.ranks, 0, 1));
    const Size C = m.C, F = own(c), b_at = 2 * F * C + F;
    const std::vector<Size> rows = sample(m.N, most_rows(c, m.N), out, 1);
    const auto made = spread(rows, [&](Size n) { return m.row(n); });
    Elements y(C), dx(C), db(1);
    for (Size k = 0; k < rows.size(); ++k)
      for (Size i = 0; i < C; ++i) y.add(rows[k], i, made[k].y[i]), dx.add(rows[k], i, made[k].dx[i]);
    for (Size i = 0; i < C; ++i) db.add(i, 0, m.db(i));
    for (int r = 0; r < c.ranks; ++r)
      if (Verdict v = y.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y", [&] { return guesses(c, m, y, r); });
          !v.ok)
        return v;
    for (int r = 0; r < c.ranks; ++r) {
      if (Verdict v = dx.compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx",
                                 [&] { return guesses_of_part(c, m, dx, "dx", &Mlp::Row::dx, r); });
          !v.ok)
        return v;
      if (Verdict v = db.compare(of_rank(out, c.ranks, r, 2).subspan(b_at, C), c.ranks, r, "gradient of b",
                                 [&] {
                                   return guesses_of_sum(
                                       db, c.ranks,
                                       "was the gradient summed over the ranks, though dy is alike on all of them?");
                                 });
          !v.ok)
        return v;
    }
    if (Verdict v = verify_shards(c, m, out, 2, 0, F * C, F * C + F, "the gradient of A is made with dy in place of x");
        !v.ok)
      return v;
    for (const Verdict& v : {same_bits(out, c.ranks, 0, 0, all(c), "y"), same_bits(out, c.ranks, 1, 0, all(c), "dx"),
                             same_bits(out, c.ranks, 2, b_at, C, "gradient of b")})
      if (!v.ok) return v;
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return Traffic(c.ranks).all_reduce(all(c), "an all-reduce of y").all_reduce(all(c), "one of dx").compare(messages);
  }

 private:
  // y or dx of one rank's hidden channels alone.
  static std::vector<Guess> guesses_of_part(const Case& c, const Mlp& m, const Elements& whole, const char* name,
                                            std::vector<Real> Mlp::Row::*which, int rank) {
    if (c.ranks == 1 || c.measured) return {};
    const Size first = static_cast<Size>(rank) * own(c);
    std::vector<double> part;
    for (Size n = 0; n < m.N; ++n) {
      const Mlp::Row row = m.row(n, first, first + own(c));
      for (const Real& one : row.*which) part.push_back(one.value);
    }
    return {guess_of_part(whole, part, "hidden channels", name, rank)};
  }
  static std::vector<Guess> guesses(const Case& c, const Mlp& m, const Elements& y, int rank) {
    std::vector<Guess> all = guesses_of_bias(y, m.b, "b", c.ranks, rank);
    if (c.ranks == 1 || c.measured) return all;
    for (Guess& g : guesses_of_part(c, m, y, "y", &Mlp::Row::y, rank)) all.push_back(std::move(g));
    const Size F = own(c);
    std::vector<double> wrong(m.N * m.C);
    for (Size n = 0; n < m.N; ++n) {
      std::vector<double> sum(F, 0);  // over the ranks, of the products without a
      for (Size f = 0; f < m.F; ++f)
        for (Size i = 0; i < m.C; ++i) sum[f % F] += m.x.value[n * m.C + i] * m.A[f * m.C + i];
      for (Size i = 0; i < m.C; ++i) {
        double total = m.b[i];
        for (Size f = 0; f < m.F; ++f) total += gelu(sum[f % F] + m.a[f]) * m.B_t[f * m.C + i];
        wrong[n * m.C + i] = total;
      }
    }
    all.push_back(
        {"the products with A were summed over the ranks before GELU, but each rank's hidden channels are its "
         "own: only the products with B are parts of a sum",
         y.changed([&](Size i, double) { return wrong[i]; })});
    return all;
  }
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t C, std::int64_t F) {
    all.push_back(made(p, {N, C, F}, fmt::format("N {}, C {}, F {}", N, C, F)));
  }
};

// --- sequence parallelism

class SequenceParallel : public MlpTask {
 public:
  std::string id() const override { return "sequence_parallel"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, p, 10, 12);  // one row each
      add(all, p, p * (r.mode == Mode::grade ? random_size(r.seed, 11, 30) : 19), 45, 21 * p);
      add(all, p, p * 71, 10, 12);  // above the 64 rows that one block of nn's column sums takes
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Size n = rows(c) * at(c, 1), w = weights(c) + 2 * at(c, 1);
    return {{n * 4, n * 4, w * 4},
            {n * 4, n * 4, w * 4},
            4 * (2 * n + 2 * rows(c) + 2 * all(c) + 3 * wide(c) + columns_scratch(std::max(at(c, 1), own(c))))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Size C = at(c, 1), F = own(c);
    // Rows far from zero: the mean must be subtracted first.
    Filler(floats(in[0]), random_bits(seed, 100)).normal(rows(c) * C, 1.5, 3);
    fill_normal(floats(in[1]), random_bits(seed, 101));
    const double by = 1 / std::sqrt(static_cast<double>(C)), out = 1 / std::sqrt(static_cast<double>(at(c, 2)));
    Filler(floats(in[2]), c.shared_seed)
        .normal(C, 0.3, 1)
        .normal(C, 0.5)
        .normal(C, 0.5)
        .from(seed)
        .normal(F * C, by)
        .normal(F, 0.5)
        .normal(C * F, out);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Size N = at(c, 0), C = at(c, 1), F = own(c), n = rows(c);
    const std::vector<double> small = doubles(of_rank(in, c.ranks, 0, 2).first(3 * C));
    const double *gamma = &small[0], *beta = &small[C];
    Mlp m{N,
          C,
          at(c, 2),
          Reals(N * C),
          Reals(N * C),
          {},
          {},
          {},
          {small.begin() + static_cast<long>(2 * C), small.end()}};
    for (int r = 0; r < c.ranks; ++r)
      m.add_shard(of_rank(in, c.ranks, r, 2), 3 * C, 3 * C + F * C, 3 * C + F * C + F, F);
    Reals hat(N * C);
    std::vector<double> rstd(N), mean(N);
    for (Size i = 0; i < N; ++i) {
      const int r = static_cast<int>(i / n);
      const auto x = of_rank(in, c.ranks, r, 0).subspan(i % n * C, C),
                 d = of_rank(in, c.ranks, r, 1).subspan(i % n * C, C);
      double sum = 0, squares = 0;
      for (float v : x) sum += v;
      mean[i] = sum / static_cast<double>(C);
      for (float v : x) squares += square(v - mean[i]);
      rstd[i] = 1 / std::sqrt(squares / static_cast<double>(C) + 1e-5);
      for (Size k = 0; k < C; ++k) {
        const double h = (x[k] - mean[i]) * rstd[i];
        // Roundings of the mean, of the difference and of rstd.
        const double error = 3 * kUnit * ((std::fabs(mean[i]) + std::fabs(x[k])) * rstd[i] + std::fabs(h));
        hat.set(i * C + k, {h, square(error), 0});
        m.x.set(i * C + k, plus({h * gamma[k], square(gamma[k] * error) + square(kUnit * h * gamma[k]), 0}, beta[k]));
        m.dy.value[i * C + k] = d[k];
      }
    }
    std::vector<Size> every(N);
    for (Size i = 0; i < N; ++i) every[i] = i;
    const auto made = spread(every, [&](Size i) { return m.row(i); });
    std::vector<RealSum> dgamma(C), dbeta(C);
    std::vector<Elements> y(static_cast<Size>(c.ranks), Elements(C)), dx(static_cast<Size>(c.ranks), Elements(C));
    for (Size i = 0; i < N; ++i) {
      const std::vector<Real>& d = made[i].dx;  // of the normed row
      RealSum g_sum, product;
      for (Size k = 0; k < C; ++k) {
        const Real g{d[k].value * gamma[k], d[k].variance * square(gamma[k]), 0};
        g_sum.add(g), product.add(g, hat[i * C + k]);
        dgamma[k].add(d[k], hat[i * C + k]), dbeta[k].add(d[k]);
      }
      const Real s = g_sum.done(), q = product.done();
      const double count = static_cast<double>(C);
      for (Size k = 0; k < C; ++k) {
        const double g = d[k].value * gamma[k], h = hat.value[i * C + k], a = s.value / count, b = q.value / count;
        const double own_error = 4 * kUnit * (std::fabs(g) + std::fabs(a) + std::fabs(h * b));
        const double variance = d[k].variance * square(gamma[k]) + (s.variance + h * h * q.variance) / square(count) +
                                b * b * hat.variance[i * C + k] + square(own_error);
        dx[i / n].add(i % n, k, {rstd[i] * (g - a - h * b), square(rstd[i]) * variance, rstd[i] * std::fabs(g)});
        y[i / n].add(i % n, k, made[i].y[k]);
      }
    }
    Elements d_gamma(1), d_beta(1), d_b(1);
    for (Size k = 0; k < C; ++k) {
      d_gamma.add(k, 0, dgamma[k].done()), d_beta.add(k, 0, dbeta[k].done());
      d_b.add(k, 0, m.db(k));
    }
    for (int r = 0; r < c.ranks; ++r)
      if (Verdict v = y[static_cast<Size>(r)].compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y"); !v.ok) return v;
    if (Verdict v = verify_shards(
            c, m, out, 2, 3 * C, 3 * C + F * C, 3 * C + F * C + F,
            "the gradient of A is made with the rows of dy in place of the normed rows. Does `gathered` still hold "
            "dy? Gather the normed rows again before this product");
        !v.ok)
      return v;
    for (int r = 0; r < c.ranks; ++r) {
      const auto g = of_rank(out, c.ranks, r, 2);
      const char* all_rows = "was the gradient of all N rows made on each rank, and then summed over the ranks?";
      auto own_rows = [&] {
        std::vector<double> sum(C, 0);
        for (Size i = static_cast<Size>(r) * n; i < static_cast<Size>(r + 1) * n; ++i)
          for (Size k = 0; k < C; ++k) sum[k] += made[i].dx[k].value * hat.value[i * C + k];
        return std::vector<Guess>{
            {fmt::format("it is the sum over rank {}'s own rows: the rows of the other ranks are missing", r),
             d_gamma.changed([&](Size i, double) { return sum[i]; })}};
      };
      for (const Verdict& v : {dx[static_cast<Size>(r)].compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx"),
                               d_gamma.compare(g.first(C), c.ranks, r, "gradient of gamma", own_rows),
                               d_beta.compare(g.subspan(C, C), c.ranks, r, "gradient of beta",
                                              [&] { return guesses_of_sum(d_beta, c.ranks, all_rows); }),
                               d_b.compare(g.subspan(2 * C, C), c.ranks, r, "gradient of b",
                                           [&] { return guesses_of_sum(d_b, c.ranks, all_rows); })})
        if (!v.ok) return v;
    }
    return same_bits(out, c.ranks, 2, 0, 3 * C, "gradients of gamma, beta and b");
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return Traffic(c.ranks)
        .all_gather(all(c), "forward an all-gather")
        .all_gather(all(c), "a reduce-scatter")
        .all_gather(all(c), "backward two all-gathers")
        .all_gather(all(c))
        .all_gather(all(c), "a reduce-scatter")
        .all_reduce(3 * at(c, 1), "an all-reduce of 3 C gradients")
        .compare(messages, Traffic::Fewer::refused);
  }

 private:
  static Size rows(const Case& c) { return at(c, 0) / static_cast<Size>(c.ranks); }
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t C, std::int64_t F) {
    all.push_back(made(p, {N, C, F}, fmt::format("N {}, C {}, F {}", N, C, F)));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> mlp() { return std::make_unique<MlpWhole>(); }
std::unique_ptr<TaskCheck> sequence_parallel() { return std::make_unique<SequenceParallel>(); }

}  // namespace ridge::lab::tensor_parallel
