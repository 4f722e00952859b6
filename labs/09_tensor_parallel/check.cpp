// Cases, inputs, expected answers and traffic of lab 09.
//
// Expected answers are those of the whole layer in double precision, with the errors that fp32 may have (propagation.hpp).
#include "lab/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "lab/compare.hpp"
#include "lab/propagation.hpp"
#include "roofline/profile.hpp"

namespace {

using namespace ridge::lab;
using Size = std::size_t;

const double kUnit = kFp32.unit();
constexpr double square(double x) { return x * x; }

double gelu(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}
double gelu_slope(double x) {
  const double k = std::sqrt(2 / std::numbers::pi), t = std::tanh(k * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
}
Real gelu_of(const Real& x) {
  return {gelu(x.value), square(gelu_slope(x.value)) * x.variance + square(3 * kUnit * x.value), std::fabs(x.value)};
}
Real gelu_backward(const Real& x, const Real& d) {
  constexpr double h = 1e-4;
  const double slope = gelu_slope(x.value), bend = (gelu_slope(x.value + h) - gelu_slope(x.value - h)) / (2 * h);
  const double own = square(4 * kUnit * (1 + std::fabs(x.value)));
  return {d.value * slope, slope * slope * d.variance + square(d.value) * (bend * bend * x.variance + own), 0};
}

// An input of all ranks, put together. Buffers come rank by rank, `per_rank` of each.
std::span<const float> of_rank(ConstBuffers all, int ranks, int rank, Size which) {
  const Size per_rank = all.size() / static_cast<Size>(ranks);
  return floats(all[static_cast<Size>(rank) * per_rank + which]);
}
Reals exact(std::span<const float> x) {
  Reals r(x.size());
  for (Size i = 0; i < x.size(); ++i) r.value[i] = x[i];
  return r;
}
std::vector<double> doubles(std::span<const float> x) { return {x.begin(), x.end()}; }

// Elements of an output that are compared: all, or a sample where they are many.
class Elements {
 public:
  explicit Elements(Size cols) : cols_(cols) {}
  void add(Size row, Size col, const Real& r) { at_.push_back(row * cols_ + col), expected_.push_back(expected(r)); }
  Verdict compare(std::span<const float> got, int ranks, int rank, const std::string& name) const {
    CloseTally tally(at_.size());
    for (Size k = 0; k < at_.size(); ++k) tally.add(at_[k], static_cast<double>(got[at_[k]]), expected_[k]);
    return tally.verdict([&](Size i) {
      std::string text =
          cols_ == 1 ? fmt::format("{}[{}]", name, i) : fmt::format("{}[{}][{}]", name, i / cols_, i % cols_);
      return ranks == 1 ? text : fmt::format("rank {}, {}", rank, text);
    });
  }

 private:
  Size cols_;
  std::vector<Size> at_;
  std::vector<Expected> expected_;
};

Verdict same_bits(ConstBuffers out, int ranks, Size which, Size first, Size count, const std::string& name) {
  const auto a = of_rank(out, ranks, 0, which).subspan(first, count);
  for (int r = 1; r < ranks; ++r) {
    const auto b = of_rank(out, ranks, r, which).subspan(first, count);
    for (Size i = 0; i < count; ++i)
      if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0)
        return {
            false,
            fmt::format("{}, element {}: {:.9g} on rank 0 and {:.9g} on rank {}. What ranks hold alike must have the "
                        "same bits, or they drift apart",
                        name, i, a[i], b[i], r),
            "ranks have different answers", "agree"};
  }
  return {};
}

// Which of n rows are looked at: all, or `most` that the answers themselves choose, so that nobody knows them before.
std::vector<Size> sample(Size n, Size most, ConstBuffers out, std::uint64_t stream) {
  std::vector<Size> rows;
  if (n <= most) {
    for (Size i = 0; i < n; ++i) rows.push_back(i);
    return rows;
  }
  std::uint64_t seed = stream;
  for (const auto& b : out)
    for (Size i = 0; i + 8 <= b.size(); i += std::max<Size>(8, b.size() / 1024 / 8 * 8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, b.data() + i, sizeof word);
      seed = random_bits(seed ^ word, 0);
    }
  for (Size i = 0; i < most; ++i) rows.push_back(random_bits(seed, i) % n);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// What collectives put on the wire, all ranks together, by rings.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  std::string calls;
  explicit Traffic(int ranks) : p_(static_cast<std::uint64_t>(ranks)) {}
  Traffic& all_reduce(std::uint64_t elements, const char* name) {
    return add(2 * (p_ - 1) * p_, 2 * (p_ - 1) * elements, name);
  }
  // Of `elements` in all; so is a reduce-scatter.
  Traffic& all_gather(std::uint64_t elements, const char* name = "") {
    return add((p_ - 1) * p_, (p_ - 1) * elements, name);
  }
  Verdict compare(std::span<const Message> sent) const {
    std::uint64_t bytes_sent = 0;
    for (const Message& m : sent) bytes_sent += m.bytes;
    auto refused = [](std::string why) { return Verdict{false, std::move(why), {}, "traffic"}; };
    if (bytes_sent > bytes)
      return refused(fmt::format("all ranks together send {} bytes, where {} would do: {}", bytes_sent, bytes,
                                 calls.empty() ? "none" : calls));
    if (sent.size() > messages)
      return refused(
          fmt::format("all ranks together send {} messages, where {} would do: {} by rings. One collective too many?",
                      sent.size(), messages, calls.empty() ? "none" : calls));
    return {};
  }

 private:
  Traffic& add(std::uint64_t count, std::uint64_t elements, const char* name) {
    messages += count, bytes += elements * sizeof(float);
    calls += (calls.empty() || *name == 0 ? "" : ", ") + std::string(name);
    return *this;
  }
  std::uint64_t p_;
};

// Fills part by part.
class Filler {
 public:
  Filler(std::span<float> to, std::uint64_t seed) : to_(to), seed_(seed) {}
  // Normal numbers times `by`, plus `shift`.
  Filler& normal(Size count, double by, double shift = 0) {
    const auto part = to_.subspan(at_, count);
    fill_normal(part, random_bits(seed_, stream_++));
    scale_and_shift(part, static_cast<float>(by), static_cast<float>(shift));
    at_ += count;
    return *this;
  }
  // The next part is filled from another seed.
  Filler& from(std::uint64_t seed) {
    seed_ = seed;
    return *this;
  }

 private:
  std::span<float> to_;
  std::uint64_t seed_, stream_ = 0;
  Size at_ = 0;
};

Size columns_scratch(Size columns) { return 2 * 64 * columns; }  // nn::column_scratch

const std::map<std::string, double>& device() { return ridge::default_profile().device; }

// On the emulated device.
double all_reduce_seconds(double bytes, double p) {
  return device().at("kernel_latency") +
         2 * (p - 1) * (device().at("copy_latency") + bytes / p / device().at("peer_bandwidth"));
}
double stream_seconds(double bytes) {
  return device().at("kernel_latency") + bytes / (device().at("dram_bandwidth") * device().at("dram_efficiency"));
}

class Task : public TaskCheck {
 public:
  bool host_reads_inputs() const override { return false; }

 protected:
  static Size at(const Case& c, Size i) { return static_cast<Size>(c.size[i]); }
  static Case made(int ranks, std::array<std::int64_t, 8> size, std::string name) {
    Case c;
    c.ranks = ranks;
    c.size = size;
    c.name = fmt::format("{} rank{}, {}", ranks, ranks == 1 ? "" : "s", name);
    return c;
  }
  // The ranks that a measured case has.
  static int measured_ranks(const Request& r) {
    return r.backend == Backend::cuda ? r.ranks.back() : std::min(2, r.ranks.back());
  }
};

// --- shard

class Shard : public Task {
 public:
  std::string id() const override { return "shard"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, p, 5, 37, 3 * p);
      add(all, p, 3 * p, 7, r.mode == Mode::grade ? random_size(r.seed, 33, 90) : 45, 11 * p);
    }
    if (r.ranks.empty()) return all;
    const bool gpu = r.backend == Backend::cuda;
    add(all, measured_ranks(r), gpu ? 32 : 8, gpu ? 128 : 16, gpu ? 4096 : 128, gpu ? 16384 : 512);
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const Size qkv = 3 * at(c, 0) * at(c, 1) * at(c, 2) * 4, fc2 = at(c, 2) * at(c, 3) * 4, p = ranks(c);
    return {{qkv, fc2}, {qkv / p, fc2 / p}};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    fill_normal(floats(in[0]), c.shared_seed);
    fill_normal(floats(in[1]), random_bits(c.shared_seed, 1));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Size H = at(c, 0), hs = at(c, 1), C = at(c, 2), F = at(c, 3), p = ranks(c), own = H / p * hs * C;
    for (int r = 0; r < c.ranks; ++r) {
      const Size rank = static_cast<Size>(r);
      const auto qkv = of_rank(in, c.ranks, r, 0), fc2 = of_rank(in, c.ranks, r, 1);
      Verdict v = compare_exact<float>(
          of_rank(out, c.ranks, r, 0), [&](Size i) { return qkv[i / own * H * hs * C + rank * own + i % own]; },
          [&](Size i) {
            return fmt::format("rank {}, qkv_shard, part {}, row {}, column {}", r, i / own, i % own / C, i % C);
          });
      if (!v.ok) return v;
      const Size columns = F / p;
      v = compare_exact<float>(
          of_rank(out, c.ranks, r, 1), [&](Size i) { return fc2[i / columns * F + rank * columns + i % columns]; },
          [&](Size i) { return fmt::format("rank {}, fc2_shard[{}][{}]", r, i / columns, i % columns); });
      if (!v.ok) return v;
    }
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return Traffic(c.ranks).compare(messages);
  }
  Work work(const Case& c) const override {
    const double bytes = 4.0 * static_cast<double>((3 * at(c, 0) * at(c, 1) + at(c, 3)) * at(c, 2)) / c.ranks;
    return {bytes / 4, "element", bytes, bytes};
  }

 private:
  static Size ranks(const Case& c) { return static_cast<Size>(c.ranks); }
  static void add(std::vector<Case>& all, int p, std::int64_t H, std::int64_t hs, std::int64_t C, std::int64_t F) {
    all.push_back(made(p, {H, hs, C, F}, fmt::format("H {}, hs {}, C {}, F {}", H, hs, C, F)));
  }
};

// --- the MLP, of three tasks

// y = gelu(x A^T + a) B^T + b, whole.
struct Mlp {
  Size N, C, F;
  Reals x, dy;                       // (N, C)
  std::vector<double> A, B_t, a, b;  // (F, C), (F, C), (F), (C)

  struct Hidden {
    Real pre, act, d_pre;
  };
  // Of row n and channel f; without a gradient d_pre stays 0.
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
  Row row(Size n) const {
    std::vector<RealSum> y(C), dx(C);
    for (Size f = 0; f < F; ++f) {
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

// results[i] = of(i) for all of `which`, on all cores.
template <class Of>
auto spread(const std::vector<Size>& which, Of of) {
  std::vector<decltype(of(Size{}))> results(which.size());
  parallel_for(
      which.size(),
      [&](Size from, Size to) {
        for (Size i = from; i < to; ++i) results[i] = of(which[i]);
      },
      4);
  return results;
}

constexpr Size kMostMultiplications = Size{48} << 20;  // of one pass that is checked as a whole
constexpr Size kSampledRows = 12;

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

  // Shards are this rank's, b is alike.
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
  // The gradients of A, a and B, each rank's shard at its offsets in output `which`.
  static Verdict verify_shards(const Case& c, const Mlp& m, ConstBuffers out, Size which, Size A_at, Size a_at,
                               Size B_at) {
    const Size F = own(c), C = m.C;
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
      for (const Verdict& v : {dA.compare(got.subspan(A_at, F * C), c.ranks, r, "gradient of A"),
                               da.compare(got.subspan(a_at, F), c.ranks, r, "gradient of a"),
                               dB.compare(got.subspan(B_at, C * F), c.ranks, r, "gradient of B")})
        if (!v.ok) return v;
    }
    return {};
  }
};

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
      if (Verdict v = y.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y"); !v.ok) return v;
    for (int r = 0; r < c.ranks; ++r) {
      if (Verdict v = dx.compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx"); !v.ok) return v;
      if (Verdict v = db.compare(of_rank(out, c.ranks, r, 2).subspan(b_at, C), c.ranks, r, "gradient of b"); !v.ok)
        return v;
    }
    if (Verdict v = verify_shards(c, m, out, 2, 0, F * C, F * C + F); !v.ok) return v;
    for (const Verdict& v : {same_bits(out, c.ranks, 0, 0, all(c), "y"), same_bits(out, c.ranks, 1, 0, all(c), "dx"),
                             same_bits(out, c.ranks, 2, b_at, C, "gradient of b")})
      if (!v.ok) return v;
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    return Traffic(c.ranks).all_reduce(all(c), "an all-reduce of y").all_reduce(all(c), "one of dx").compare(messages);
  }

 private:
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
    // Rows far from zero: the mean must be taken off first.
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
    if (Verdict v = verify_shards(c, m, out, 2, 3 * C, 3 * C + F * C, 3 * C + F * C + F); !v.ok) return v;
    for (int r = 0; r < c.ranks; ++r) {
      const auto g = of_rank(out, c.ranks, r, 2);
      for (const Verdict& v : {dx[static_cast<Size>(r)].compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx"),
                               d_gamma.compare(g.first(C), c.ranks, r, "gradient of gamma"),
                               d_beta.compare(g.subspan(C, C), c.ranks, r, "gradient of beta"),
                               d_b.compare(g.subspan(2 * C, C), c.ranks, r, "gradient of b")})
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
        .compare(messages);
  }

 private:
  static Size rows(const Case& c) { return at(c, 0) / static_cast<Size>(c.ranks); }
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t C, std::int64_t F) {
    all.push_back(made(p, {N, C, F}, fmt::format("N {}, C {}, F {}", N, C, F)));
  }
};

class Overlap : public MlpTask {
 public:
  std::string id() const override { return "overlap"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, p, 10, 12, 3);       // more chunks than rows
      add(all, p, 13 * p, 10, 12, 6);  // 3, 3, 3, 3, 1 rows: five chunks
      add(all, p, p * (r.mode == Mode::grade ? random_size(r.seed, 11, 30) : 19), 45, 21 * p, 4);
    }
    if (r.ranks.empty()) return all;
    if (r.backend == Backend::cuda)
      add(all, measured_ranks(r), 8192, 1024, 4096, 4);
    else
      add(all, measured_ranks(r), 2048, 128, 128, 4);
    all.back().measured = true;
    return all;
  }
  Shape shape(const Case& c) const override {
    const Size n = all(c) / static_cast<Size>(c.ranks);
    return {{n * 4, weights(c) * 4}, {n * 4}, 4 * (2 * all(c) + 2 * wide(c))};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_normal(floats(in[0]), random_bits(seed, 100));
    fill_weights(c, seed, Filler(floats(in[1]), seed));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    Mlp m = whole(c, in, 1);
    const Size C = m.C, n = m.N / static_cast<Size>(c.ranks);
    m.x = Reals(m.N * C);
    for (int r = 0; r < c.ranks; ++r) {
      const auto x = of_rank(in, c.ranks, r, 0);
      std::copy(x.begin(), x.end(), m.x.value.begin() + static_cast<long>(static_cast<Size>(r) * n * C));
    }
    const std::vector<Size> rows = sample(m.N, most_rows(c, m.N), out, 1);
    const auto made = spread(rows, [&](Size i) { return m.row(i); });
    for (int r = 0; r < c.ranks; ++r) {
      Elements y(C);
      for (Size k = 0; k < rows.size(); ++k)
        for (Size i = 0; i < C; ++i)
          if (rows[k] / n == static_cast<Size>(r)) y.add(rows[k] % n, i, made[k].y[i]);
      if (Verdict v = y.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y"); !v.ok) return v;
    }
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Size n = at(c, 0) / static_cast<Size>(c.ranks), m = (n + at(c, 3) - 1) / at(c, 3),
               p = static_cast<Size>(c.ranks);
    Traffic t(c.ranks);
    t.all_gather(all(c), "an all-gather").all_gather(all(c), "and a reduce-scatter of each chunk");
    t.messages = 2 * ((n + m - 1) / m) * (p - 1) * p;
    return t.compare(messages);
  }

 protected:
  double products() const override { return 2; }

 private:
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t C, std::int64_t F, std::int64_t chunks) {
    all.push_back(made(p, {N, C, F, chunks}, fmt::format("N {}, C {}, F {}, {} chunks", N, C, F, chunks)));
  }
};

// --- attention

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
      add(all, measured_ranks(r), 4, 64, 128, 8, 16);
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
    const auto summed = spread(rows, [&](Size n) {
      Row row{std::vector<RealSum>(C), std::vector<RealSum>(C)};
      for (Size h = 0; h < d.H; ++h) {
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
    });
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
      if (Verdict v = y.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "y"); !v.ok) return v;
    for (int r = 0; r < c.ranks; ++r) {
      const auto g = of_rank(out, c.ranks, r, 2);
      for (const Verdict& v : {dx.compare(of_rank(out, c.ranks, r, 1), c.ranks, r, "dx"),
                               dproj_b.compare(g.subspan(proj_b_at, C), c.ranks, r, "gradient of proj_b")})
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
  // Of one sequence: (T, hs).
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
          // Of the scores, and of the exponentials, their sum and the quotient.
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

// --- cross entropy

// Sizes of a case: N, columns of a rank, V.
class CrossEntropy : public Task {
 public:
  std::string id() const override { return "cross_entropy"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, 11, 2, std::max(2, 2 * p - 3));  // the last rank has padding only
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
            // exp of most rows is no float; in some rows one rank has all the weight.
            const double far = n % 3 == 1 ? 600 : n % 3 == 2 ? -600 : 0;
            const double here = n % 4 == 3 ? -25 * static_cast<double>((static_cast<Size>(c.rank) + n / 4) % 3) : 0;
            const auto row = logits.subspan(n * Vs, Vs);
            for (Size v = 0; v < Vs; ++v)
              row[v] = first + v >= V ? (n % 2 == 0 ? 3e4f : std::numeric_limits<float>::quiet_NaN())
                                      : static_cast<float>(3 * row[v] + far + here);
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
    for (int r = 0; r < c.ranks; ++r)
      if (Verdict v = losses.compare(of_rank(out, c.ranks, r, 0), c.ranks, r, "losses"); !v.ok) return v;
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
    // A gather of the three numbers is one message for many: more bytes, fewer latencies.
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
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t Vs, std::int64_t V) {
    all.push_back(made(p, {N, Vs, V}, fmt::format("N {}, V {}, {} columns a rank", N, V, Vs)));
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Shard>());
  checks.push_back(std::make_unique<MlpWhole>());
  checks.push_back(std::make_unique<Attention>());
  checks.push_back(std::make_unique<CrossEntropy>());
  checks.push_back(std::make_unique<SequenceParallel>());
  checks.push_back(std::make_unique<Overlap>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("09_tensor_parallel", make);

}  // namespace
