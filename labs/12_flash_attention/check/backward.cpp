// backward: dq by rows of queries, dk and dv by rows of keys.
#include "attention.hpp"
#include "checks/wide.hpp"
#include "tasks.hpp"

namespace ridge::lab::flash_attention {

namespace {

RIDGE_WIDE float dot_float(const float* a, const float* b, std::size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
RIDGE_WIDE void add_row(float* sum, float weight, const float* row, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) sum[i] += weight * row[i];
}

std::vector<float> widened(std::span<const Bf16> x) {
  std::vector<float> wide(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) wide[i] = x[i].as_float();
  return wide;
}

// The forward pass, as a kernel would leave o and lse: inputs of backward, so fp32 is good enough.
void forward_of(const Sizes& s, std::span<const Bf16> q, std::span<const Bf16> k, std::span<const Bf16> v,
                std::span<Bf16> o, std::span<float> lse) {
  const std::vector<float> all_q = widened(q), all_k = widened(k), all_v = widened(v);
  const auto scale = static_cast<float>(s.scale());
  parallel_for(
      s.q_rows(),
      [&](std::size_t from, std::size_t to) {
        std::vector<float> score(s.keys), out(s.d);
        for (std::size_t row = from; row < to; ++row) {
          const std::size_t seen = s.seen(row % s.queries), first = s.k_row(row);
          float top = -std::numeric_limits<float>::infinity(), sum = 0;
          for (std::size_t j = 0; j < seen; ++j) {
            score[j] = scale * dot_float(&all_q[row * s.d], &all_k[(first + j) * s.d], s.d);
            top = std::max(top, score[j]);
          }
          std::fill(out.begin(), out.end(), 0.0f);
          for (std::size_t j = 0; j < seen; ++j) {
            const float weight = std::exp(score[j] - top);
            sum += weight;
            add_row(out.data(), weight, &all_v[(first + j) * s.d], s.d);
          }
          for (std::size_t c = 0; c < s.d; ++c) o[row * s.d + c] = rounded(seen > 0 ? out[c] / sum : 0);
          lse[row] = seen > 0 ? top + std::log(sum) : top;
        }
      },
      16);
}

// Where the forward pass would take the host longer than all turns take a GPU: an lse near that of scores that are
// N(0, |q|^2 / d), and an o as large as a mean of so many values.
bool stands_in(const Sizes& s) { return s.pairs() > 1e8; }
void forward_stand_in(const Sizes& s, std::uint64_t seed, std::span<const Bf16> q, std::span<Bf16> o,
                      std::span<float> lse) {
  fill_normal(o, seed);
  parallel_for(
      s.q_rows(),
      [&](std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) {
          const Bf16* of_q = &q[row * s.d];
          const double seen = static_cast<double>(std::max<std::size_t>(1, s.seen(row % s.queries)));
          lse[row] = static_cast<float>(std::log(seen) + dot(of_q, of_q, s.d) / (2 * static_cast<double>(s.d)));
          const auto size = static_cast<float>(1 / std::sqrt(seen));
          for (std::size_t c = 0; c < s.d; ++c) o[row * s.d + c] = rounded(size * o[row * s.d + c].as_float());
        }
      },
      1 << 12);
}

// The judge's buffers: q; k and v; o and d_o; lse. Of two tensors in one, the second begins at a multiple of 256 bytes.
constexpr std::size_t second(std::size_t elements) { return (elements + 127) / 128 * 128; }
template <class T>
struct Inputs {
  T q, k, v, o, d_o;
};
template <class T, class B>
Inputs<T> inputs_of(const Sizes& s, B in) {
  const std::size_t of_q = s.q_rows() * s.d, of_k = s.k_rows() * s.d;
  const auto kv = as<Bf16>(in[1]), os = as<Bf16>(in[2]);
  return {as<Bf16>(in[0]), kv.first(of_k), kv.subspan(second(of_k)), os.first(of_q), os.subspan(second(of_q))};
}

struct Gradient {
  Sizes s;
  std::span<const Bf16> q, k, v, o, d_o;
  std::span<const float> lse;
  std::vector<double> delta;

  Gradient(const Case& c, ConstBuffers in) : s(attention_of(c)), lse(floats(in[3])), delta(s.q_rows()) {
    const auto all = inputs_of<std::span<const Bf16>>(s, in);
    q = all.q, k = all.k, v = all.v, o = all.o, d_o = all.d_o;
    parallel_for(
        s.q_rows(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t row = from; row < to; ++row) delta[row] = dot(&d_o[row * s.d], &o[row * s.d], s.d);
        },
        1 << 12);
  }

  // p and ds of a query (a row of q) and a key (a row of k), with the deviations of their errors before they are
  // rounded.
  struct Pair {
    double p, p_off, ds, ds_off;
  };
  Pair pair(std::size_t query, std::size_t key) const {
    const Bf16 *of_q = &q[query * s.d], *of_k = &k[key * s.d], *g = &d_o[query * s.d], *of_v = &v[key * s.d];
    const double score = dot(of_q, of_k, s.d), dp = dot(g, of_v, s.d);
    const double p = std::exp(score * s.scale() - lse[query]);
    const double relative = dot_deviation(of_q, of_k, s.d, score, kTensorFp32) * s.scale() +
                            kFp32.unit() * (4 + 2 * (std::fabs(score * s.scale()) + std::fabs(lse[query])));
    const double of_dp =
        dot_deviation(g, of_v, s.d, dp, kTensorFp32) + dot_deviation(g, &o[query * s.d], s.d, delta[query], kFp32);
    return {p, p * relative, p * (dp - delta[query]), p * (relative * std::fabs(dp - delta[query]) + of_dp)};
  }

  void dq(std::size_t row, Expected* e) const {
    const std::size_t seen = s.seen(row % s.queries), first = s.k_row(row);
    WeightedSum sum(s.d);
    for (std::size_t j = first; j < first + seen; ++j) {
      const Pair x = pair(row, j);
      sum.add(x.ds, &k[j * s.d]);
      sum.inherit(x.ds_off, &k[j * s.d], nullptr);
    }
    sum.expect(kInBf16, s.scale(), 2, e);
  }
  // dk or dv of a row of k: over the queries of its group of heads.
  void dkv(std::size_t row, bool of_k, Expected* e) const {
    const std::size_t kv_head = row / s.keys, batch = kv_head / s.kv_heads;
    const std::size_t head0 = batch * s.heads + kv_head % s.kv_heads * s.group();
    WeightedSum sum(s.d);
    for (std::size_t head = head0; head < head0 + s.group(); ++head)
      for (std::size_t i = s.first_query(row % s.keys); i < s.queries; ++i) {
        const std::size_t query = head * s.queries + i;
        const Pair x = pair(query, row);
        const Bf16* other = of_k ? &q[query * s.d] : &d_o[query * s.d];
        sum.add(of_k ? x.ds : x.p, other);
        sum.inherit(of_k ? x.ds_off : x.p_off, other, nullptr);
      }
    sum.expect(kInBf16, of_k ? s.scale() : 1, of_k ? 2 : 1, e);
  }
};

class Backward : public TaskCheck {
 public:
  std::string id() const override { return "backward"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 7> s, bool measured = false) {
      all.push_back(attention_case(s, measured));
    };
    add({1, 2, 2, 75, 75, 64, 1}), add({1, 1, 1, 1, 1, 64, 0}), add({2, 2, 1, 33, 110, 128, 0});
    add({1, 2, 2, 50, 131, 128, 1}), add({1, 3, 1, 129, 57, 64, 1});
    add({2, 2, 1, 140, 150, 64, 0});
    all.back().size[7] = 1;
    all.back().name += ", the same sequence twice";
    if (r.mode == Mode::grade) add({1, 4, 2, random_size(r.seed, 60, 130), random_size(r.seed + 1, 80, 170), 64, 1});
    if (r.backend == Backend::cpu) {
      add({1, 2, 1, r.mode == Mode::check ? 256 : 384, 256, 64, 1}, true);
      return all;
    }
    if (r.mode == Mode::check) {
      add({2, 16, 16, 2048, 2048, 128, 1}, true);
      return all;
    }
    for (std::int64_t d : {64, 128})
      for (std::int64_t causal : {0, 1}) add({1, 16, 16, 4096, 4096, d, causal}, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s = attention_of(c);
    const std::size_t of_q = s.q_rows() * s.d * 2, of_k = s.k_rows() * s.d * 2, of_rows = s.q_rows() * sizeof(float);
    return {{of_q, 2 * second(s.k_rows() * s.d) + of_k, 2 * second(s.q_rows() * s.d) + of_q, of_rows},
            {of_q, of_k, of_k},
            of_rows};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Sizes s = attention_of(c);
    for (std::size_t i = 0; i < 3; ++i) fill_normal(as<Bf16>(in[i]), random_bits(seed, i));
    const auto all = inputs_of<std::span<Bf16>>(s, in);
    if (c.size[7] != 0)
      for (std::span<Bf16> tensor : {all.q, all.k, all.v, all.d_o})
        std::copy_n(tensor.begin(), tensor.size() / 2, tensor.begin() + static_cast<std::ptrdiff_t>(tensor.size() / 2));
    if (stands_in(s)) {
      forward_stand_in(s, random_bits(seed, 3), all.q, all.o, floats(in[3]));
      return;
    }
    if (c.size[7] == 0) enlarge_keys(all.k, s);
    forward_of(s, all.q, all.k, all.v, all.o, floats(in[3]));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    if (c.size[7] != 0)
      if (Verdict v = repeatable(c, out); !v.ok) return v;
    const Gradient g(c, in);
    const Sizes& s = g.s;
    const double per_query = static_cast<double>(s.keys * s.d);
    const double per_key = static_cast<double>(s.group() * s.queries * s.d);
    const auto work = static_cast<std::size_t>(8 * std::max(per_query, per_key));
    const auto queries = rows_to_compare(s.q_rows(), per_query, fresh_seed());
    const auto keys = rows_to_compare(s.k_rows(), per_key, fresh_seed());
    Verdict v = compare_rows("dv", as<Bf16>(out[2]), s.d, s.keys, keys, work,
                             [&](std::size_t row, Expected* e) { g.dkv(row, false, e); });
    if (v.ok)
      v = compare_rows("dk", as<Bf16>(out[1]), s.d, s.keys, keys, work,
                       [&](std::size_t row, Expected* e) { g.dkv(row, true, e); });
    if (v.ok)
      v = compare_rows("dq", as<Bf16>(out[0]), s.d, s.queries, queries, work,
                       [&](std::size_t row, Expected* e) { g.dq(row, e); });
    return v;
  }
  // Both sequences of the case have the same inputs: their gradients have the same bits, unless the order of a sum
  // depends on when blocks run.
  static Verdict repeatable(const Case& c, ConstBuffers out) {
    const Sizes s = attention_of(c);
    const char* names[] = {"dq", "dk", "dv"};
    for (std::size_t t = 0; t < 3; ++t) {
      const auto all = as<Bf16>(out[t]);
      const std::size_t half = all.size() / 2, rows = t == 0 ? s.queries : s.keys;
      for (std::size_t i = 0; i < half; ++i) {
        if (all[i].bits == all[half + i].bits) continue;
        return {
            false,
            fmt::format(
                "{}[head {}][{}][{}] has other bits for the second sequence, which has the same inputs: the order of "
                "a sum depends on when blocks run",
                names[t], i / s.d / rows, i / s.d % rows, i % s.d),
            "the same inputs give other bits: the order of a sum depends on when blocks run"};
      }
    }
    return {};
  }
  Work work(const Case& c) const override {
    const Sizes s = attention_of(c);
    const double d = static_cast<double>(s.d), q = static_cast<double>(s.q_rows()) * d * 2,
                 k = static_cast<double>(s.k_rows()) * d * 2;
    return {10 * d * s.pairs(), "flop", 3 * q + 2 * k + 4 * static_cast<double>(s.q_rows()), q + 2 * k, "bf16"};
  }
  // dq: tiles of 128 queries, 64 keys at a time (32 with d = 128); dk and dv: tiles of 128 keys (64 with d = 128), 32
  // queries at a time. delta: o and d_o, and a float a row. dq: q and d_o once; k and v for each tile of queries. dk, dv:
  // k and v once; q, d_o, lse and delta for each tile of keys. Shared memory has 128 bytes in a pass: a step stores the
  // other side's two tiles; for each product a warp reads its own rows, where they are a factor from memory, and the
  // other side's: S, dP, dS k; S, dP, P^T d_o, dS^T q. The logs and deltas of a step of queries take 2 passes to store,
  // and 16 of each warp to read. A block's own two tiles are stored once.
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s = attention_of(c);
    const std::size_t tile_q = 128, by_keys = s.d == 64 ? 64 : 32, tile_k = s.d == 64 ? 128 : 64, by_queries = 32;
    auto number = [](std::size_t n) { return static_cast<double>(n); };
    const double row = number(s.d * 2) / 32, q_rows = number(s.q_rows()), k_rows = number(s.k_rows());
    double keys = 0, queries = 0, steps_q = 0, steps_k = 0, blocks_q = 0, blocks_k = 0;
    for (std::size_t first = 0; first < s.queries; first += tile_q, ++blocks_q) {
      const std::size_t steps = (s.seen(std::min(first + tile_q, s.queries) - 1) + by_keys - 1) / by_keys;
      steps_q += number(steps);
      keys += number(std::min(s.keys, steps * by_keys));
    }
    for (std::size_t first = 0; first < s.keys; first += tile_k, ++blocks_k) {
      const std::size_t from = s.first_query(first) / by_queries * by_queries;
      if (from >= s.queries) continue;
      steps_k += number((s.queries - from + by_queries - 1) / by_queries);
      queries += number(s.queries - from);
    }
    // Passes: a row takes row / 4 of them; the 4 warps of a block have a quarter of its rows each.
    const double heads = number(s.batch * s.heads), pass = row / 4;
    const double step_q = pass * (2 * number(by_keys) + 2 * number(tile_q) + 4 * 3 * number(by_keys)),
                 step_k = pass * (2 * number(by_queries) + 2 * number(tile_k) + 4 * 4 * number(by_queries)) + 66;
    const double wavefronts = heads * (steps_q * step_q + steps_k * step_k + blocks_q * 2 * pass * number(tile_q)) +
                              number(s.batch * s.kv_heads) * blocks_k * 2 * pass * number(tile_k);
    return {{"load_sectors_over_bound",
             row * (4 * q_rows + 2 * k_rows) + q_rows / 4 + heads * (2 * row * keys + (2 * row + 0.25) * queries)},
            {"store_sectors_over_bound", row * (q_rows + 2 * k_rows) + q_rows / 8},
            {"shared_wavefronts_over_bound", wavefronts},
            {"conflicts_over_bound", wavefronts}};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> backward() { return std::make_unique<Backward>(); }

}  // namespace ridge::lab::flash_attention
