// The MLP that three tasks compute: its answers in double precision, its shards.
#pragma once
#include "guesses.hpp"

namespace ridge::lab::tensor_parallel {

// y = gelu(x A^T + a) B^T + b, whole.
struct Mlp {
  Size N, C, F;
  Reals x, dy;                       // (N, C)
  std::vector<double> A, B_t, a, b;  // (F, C), (F, C), (F), (C)

  struct Hidden {
    Real pre, act, d_pre;
  };
  // For row n and channel f; without a gradient d_pre stays 0.
  Hidden hidden(Size n, Size f) const {
    RealSum forward, backward;
    const double *row = &x.value[n * C], *row_variance = &x.variance[n * C], *weight = &A[f * C];
    for (Size c = 0; c < C; ++c) forward.add(row[c], row_variance[c], weight[c], 0);
    Hidden h;
    h.pre = plus(forward.done(), a[f]);
    h.act = gelu_of(h.pre);
    if (dy.size() == 0) return h;
    const double *d = &dy.value[n * C], *back = &B_t[f * C];
    for (Size c = 0; c < C; ++c) backward.add(d[c], 0, back[c], 0);
    h.d_pre = gelu_backward(h.pre, backward.done());
    return h;
  }
  struct Row {
    std::vector<Real> y, dx;
  };
  Row row(Size n) const { return row(n, 0, F); }
  // The part of the channels from `first` on, up to `end`.
  Row row(Size n, Size first, Size end) const {
    std::vector<RealSum> y(C), dx(C);
    for (Size f = first; f < end; ++f) {
      const Hidden h = hidden(n, f);
      for (Size c = 0; c < C; ++c) y[c].add(h.act.value, h.act.variance, B_t[f * C + c], 0);
      if (dy.size() > 0)
        for (Size c = 0; c < C; ++c) dx[c].add(h.d_pre.value, h.d_pre.variance, A[f * C + c], 0);
    }
    Row r;
    for (Size c = 0; c < C; ++c) r.y.push_back(plus(y[c].done(), b[c])), r.dx.push_back(dx[c].done());
    return r;
  }
  struct Column {
    std::vector<Real> dA, dB_t;
    Real da;
  };
  Column column(Size f) const {
    std::vector<RealSum> dA(C), dB(C);
    RealSum da;
    for (Size n = 0; n < N; ++n) {
      const Hidden h = hidden(n, f);
      da.add(h.d_pre);
      for (Size c = 0; c < C; ++c) {
        dA[c].add(h.d_pre.value, h.d_pre.variance, x.value[n * C + c], x.variance[n * C + c]);
        dB[c].add(dy.value[n * C + c], 0, h.act.value, h.act.variance);
      }
    }
    Column col;
    col.da = da.done();
    for (Size c = 0; c < C; ++c) col.dA.push_back(dA[c].done()), col.dB_t.push_back(dB[c].done());
    return col;
  }
  Real db(Size c) const {
    RealSum s;
    for (Size n = 0; n < N; ++n) s.add(dy[n * C + c]);
    return s.done();
  }

  // The shards: A, a and B of `weights`, at their offsets in it.
  void add_shard(std::span<const float> weights, Size A_at, Size a_at, Size B_at, Size own) {
    const auto A_part = weights.subspan(A_at, own * C), a_part = weights.subspan(a_at, own),
               B_part = weights.subspan(B_at, C * own);
    A.insert(A.end(), A_part.begin(), A_part.end());
    a.insert(a.end(), a_part.begin(), a_part.end());
    for (Size f = 0; f < own; ++f)
      for (Size c = 0; c < C; ++c) B_t.push_back(B_part[c * own + f]);
  }
};

// Sizes of a case: N, C, F (of all ranks), and what a task adds.
class MlpTask : public Task {
 public:
  Work work(const Case& c) const override {
    const double N = static_cast<double>(at(c, 0)), C = static_cast<double>(at(c, 1)), F = hidden(c);
    return {2 * products() * N * C * F, "flop", 4 * (2 * N * C + 2 * C * F), 4 * (2 * N * C + 2 * C * F)};
  }

 protected:
  virtual double products() const { return 6; }
  static double hidden(const Case& c) { return static_cast<double>(at(c, 2)) / c.ranks; }
  static Size own(const Case& c) { return at(c, 2) / static_cast<Size>(c.ranks); }
  static Size wide(const Case& c) { return at(c, 0) * own(c); }
  static Size all(const Case& c) { return at(c, 0) * at(c, 1); }
  static Size weights(const Case& c) { return own(c) * (2 * at(c, 1) + 1) + at(c, 1); }
  static Size most_rows(const Case& c, Size of) {
    return at(c, 0) * at(c, 1) * at(c, 2) <= kMostMultiplications ? of : kSampledRows;
  }

  // Shards are this rank's own; b is the same on all ranks.
  static void fill_weights(const Case& c, std::uint64_t seed, Filler f) {
    const Size C = at(c, 1), F = own(c);
    const double in = 1 / std::sqrt(static_cast<double>(C)), out = 1 / std::sqrt(static_cast<double>(at(c, 2)));
    f.from(seed).normal(F * C, in).normal(F, 0.5).normal(C * F, out).from(c.shared_seed).normal(C, 0.5);
  }
  static Mlp whole(const Case& c, ConstBuffers in, Size which) {
    Mlp m{at(c, 0), at(c, 1), at(c, 2), {}, {}, {}, {}, {}, {}};
    const Size F = own(c), C = m.C;
    for (int r = 0; r < c.ranks; ++r) m.add_shard(of_rank(in, c.ranks, r, which), 0, F * C, F * C + F, F);
    m.b = doubles(of_rank(in, c.ranks, 0, which).subspan(2 * F * C + F, C));
    return m;
  }
  // The gradients of A, a and B, each rank's shard at its offsets in output `which`. `of_dy`: the message where that of A is
  // made with dy in place of the input.
  static Verdict verify_shards(const Case& c, const Mlp& m, ConstBuffers out, Size which, Size A_at, Size a_at,
                               Size B_at, const char* of_dy) {
    const Size F = own(c), C = m.C;
    auto guesses = [&](const Elements& dA, int r) {
      std::map<Size, std::vector<double>> d_pre;  // of a channel, by rows
      auto element = [&](Size i, double) {
        const Size f = static_cast<Size>(r) * F + i / C;
        std::vector<double>& d = d_pre[f];
        for (Size n = d.size(); n < m.N; ++n) d.push_back(m.hidden(n, f).d_pre.value);
        double sum = 0;
        for (Size n = 0; n < m.N; ++n) sum += d[n] * m.dy.value[n * C + i % C];
        return sum;
      };
      return std::vector<Guess>{{of_dy, dA.changed(element)}};
    };
    const std::vector<Size> columns = sample(m.F, most_rows(c, m.F), out, 2);
    const auto made = spread(columns, [&](Size f) { return m.column(f); });
    for (int r = 0; r < c.ranks; ++r) {
      Elements dA(C), da(1), dB(F);
      for (Size k = 0; k < columns.size(); ++k) {
        if (columns[k] / F != static_cast<Size>(r)) continue;
        const Size f = columns[k] % F;
        da.add(f, 0, made[k].da);
        for (Size i = 0; i < C; ++i) dA.add(f, i, made[k].dA[i]), dB.add(i, f, made[k].dB_t[i]);
      }
      const auto got = of_rank(out, c.ranks, r, which);
      for (const Verdict& v :
           {dA.compare(got.subspan(A_at, F * C), c.ranks, r, "gradient of A", [&] { return guesses(dA, r); }),
            da.compare(got.subspan(a_at, F), c.ranks, r, "gradient of a"),
            dB.compare(got.subspan(B_at, C * F), c.ranks, r, "gradient of B")})
        if (!v.ok) return v;
    }
    return {};
  }
};

}  // namespace ridge::lab::tensor_parallel
