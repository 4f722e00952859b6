// forward, tensor and hopper: attention in fp32 and in bf16.
#include "attention.hpp"
#include "checks/variants.hpp"
#include "checks/wide.hpp"
#include "tasks.hpp"

namespace ridge::lab::flash_attention {

namespace {

// lse of a row by another rule: the first `seen` keys, scores times `scale`. What a mistake gives.
template <class T>
double lse_by(const Tensors<T>& t, std::size_t row, std::size_t seen, double scale, bool with_maximum = true) {
  const T *q = t.q.data() + row * t.s.d, *k = t.k.data() + t.s.k_row(row) * t.s.d;
  std::vector<double> score(seen);
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t j = 0; j < seen; ++j) top = std::max(top, score[j] = scale * dot(q, k + j * t.s.d, t.s.d));
  for (double x : score) sum += std::exp(x - top);
  return seen == 0 ? top : (with_maximum ? top : 0) + std::log(sum);
}

template <class T>
void tell_rule(Verdict& v, const Tensors<T>& t, std::span<const float> lse) {
  const Sizes& s = t.s;
  const auto seen = [&](std::size_t row) { return s.seen(row % s.queries); };
  tell_variant(
      v, lse.size(), [&](std::size_t row) { return double{lse[row]}; },
      {{"those are the numbers of scores that were divided by d: the contract asks for its square root",
        [&](std::size_t row) { return lse_by(t, row, seen(row), 1 / static_cast<double>(s.d)); }},
       {"those are the numbers of scores that were not scaled",
        [&](std::size_t row) { return lse_by(t, row, seen(row), 1); }},
       {"the maximum is missing: lse is the maximum plus the logarithm of the sum",
        [&](std::size_t row) { return lse_by(t, row, seen(row), s.scale(), false); }},
       {"that is the logarithm to the base 2",
        [&](std::size_t row) { return lse_by(t, row, seen(row), s.scale()) / std::log(2.0); }},
       {"that is a mask from the top left corner, which lets query i see the keys up to i; it must end in the bottom right",
        [&](std::size_t row) { return lse_by(t, row, std::min(s.keys, row % s.queries + 1), s.scale()); }},
       {"each query lacks its own key: query i sees the keys j <= i + keys - queries",
        [&](std::size_t row) { return lse_by(t, row, std::max<std::size_t>(seen(row), 1) - 1, s.scale()); }},
       {"that is attention without a mask", [&](std::size_t row) { return lse_by(t, row, s.keys, s.scale()); }}},
      1e-3);
}

template <class T>
Verdict compare(const Tensors<T>& t, std::span<const T> o, std::span<const float> lse) {
  const double cost = static_cast<double>(t.s.keys * t.s.d);
  const auto rows = rows_to_compare(t.s.q_rows(), cost, fresh_seed());
  const auto work = static_cast<std::size_t>(4 * cost);
  Verdict v = compare_rows("lse", lse, 1, t.s.queries, rows, work,
                           [&](std::size_t row, Expected* e) { *e = expected_lse(row_of(t, row)); });
  if (!v.ok) {
    tell_rule(v, t, lse);
    return v;
  }
  return compare_rows("o", o, t.s.d, t.s.queries, rows, work,
                      [&](std::size_t row, Expected* e) { expected_out(t, row_of(t, row), row, e); });
}

Work work_of(const Sizes& s, double element, const char* ceiling) {
  const double d = static_cast<double>(s.d), q = static_cast<double>(s.q_rows()) * d,
               k = static_cast<double>(s.k_rows()) * d;
  return {4 * d * s.pairs(), "flop", element * (q + 2 * k), element * q + 4 * static_cast<double>(s.q_rows()), ceiling};
}

class Forward : public TaskCheck {
 public:
  std::string id() const override { return "forward"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t batch, std::int64_t heads, std::int64_t length, std::int64_t d, bool measured) {
      all.push_back({fmt::format("batch {} heads {} length {} d {}", batch, heads, length, d),
                     {batch, heads, length, d},
                     measured});
    };
    // A message about one number could fit any mistake: another case comes first.
    add(1, 3, 33, 128, false), add(1, 1, 1, 64, false), add(2, 2, 77, 64, false), add(1, 1, 130, 128, false);
    if (r.mode == Mode::grade) add(1, 2, random_size(r.seed, 80, 170), 64, false);
    if (r.backend == Backend::cpu)
      add(1, r.mode == Mode::check ? 1 : 2, 256, 64, true);
    else
      add(r.mode == Mode::check ? 1 : 2, 16, 2048, 64, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s = sizes(c);
    const std::size_t n = s.q_rows() * s.d * sizeof(float);
    return {{n, n, n}, {n, s.q_rows() * sizeof(float)}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    for (std::size_t i = 0; i < 3; ++i) fill_normal(floats(in[i]), random_bits(seed, i));
    enlarge_keys(floats(in[1]), sizes(c));
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return sizeof(float); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    return compare(Tensors<float>{sizes(c), kInFp32, floats(in[0]), floats(in[1]), floats(in[2])}, floats(out[0]),
                   floats(out[1]));
  }
  Work work(const Case& c) const override { return work_of(sizes(c), 4, "fp32"); }
  // 64 queries a block: q once, k and v once for each block, o and lse once.
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s = sizes(c);
    const double heads = static_cast<double>(s.batch * s.heads), tiles = static_cast<double>((s.queries + 63) / 64);
    const double row = static_cast<double>(s.d * 4) / 32, length = static_cast<double>(s.queries);
    return {{"load_sectors_over_bound", heads * row * length * (1 + 2 * tiles)},
            {"store_sectors_over_bound", heads * length * (row + 1.0 / 8)},
            {"conflicts_over_bound", heads * tiles * length / 32 * 1000}};
  }

 private:
  static Sizes sizes(const Case& c) {
    auto n = [&](int i) { return static_cast<std::size_t>(c.size[static_cast<std::size_t>(i)]); };
    return {n(0), n(1), n(1), n(2), n(2), n(3), false};
  }
};

// tensor and hopper. The lengths are multiples of nothing; queries before, beside and after the keys; grouped heads.
class Tensor : public TaskCheck {
 public:
  explicit Tensor(std::string id) : id_(std::move(id)) {}
  std::string id() const override { return id_; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 7> s, bool measured = false) {
      all.push_back(attention_case(s, measured));
    };
    add({1, 3, 3, 75, 75, 64, 1}), add({1, 1, 1, 1, 1, 64, 0}), add({2, 2, 1, 33, 150, 128, 0});
    add({1, 2, 2, 70, 201, 128, 1}), add({1, 3, 1, 199, 77, 64, 1}), add({1, 6, 3, 131, 67, 64, 0});
    if (id_ == "hopper") add({1, 1, 1, 150, 530, 64, 1});  // five tiles of keys: each stage is used again
    if (r.mode == Mode::grade) {
      const std::int64_t queries = random_size(r.seed, 100, 190), keys = random_size(r.seed + 1, 150, 300);
      add({2, 4, 2, queries, keys, 64, 1}), add({1, 2, 1, queries, queries, 128, 1});
    }
    if (r.backend == Backend::cpu) {
      add({1, 2, 1, 384, 384, r.mode == Mode::check ? 64 : 128, 1}, true);
      return all;
    }
    if (r.mode == Mode::check) {
      add({4, 16, 16, 2048, 2048, 128, 1}, true);
      return all;
    }
    for (std::int64_t d : {64, 128})
      for (std::int64_t causal : {0, 1}) add({2, 16, 16, 4096, 4096, d, causal}, true);
    add({1, 32, 8, 8192, 8192, 128, 1}, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s = attention_of(c);
    return {{s.q_rows() * s.d * 2, s.k_rows() * s.d * 2, s.k_rows() * s.d * 2},
            {s.q_rows() * s.d * 2, s.q_rows() * sizeof(float)}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    for (std::size_t i = 0; i < 3; ++i) fill_normal(as<Bf16>(in[i]), random_bits(seed, i));
    enlarge_keys(as<Bf16>(in[1]), attention_of(c));
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 2; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    return compare(Tensors<Bf16>{attention_of(c), kInBf16, as<Bf16>(in[0]), as<Bf16>(in[1]), as<Bf16>(in[2])},
                   as<Bf16>(out[0]), floats(out[1]));
  }
  Work work(const Case& c) const override { return work_of(attention_of(c), 2, "bf16"); }
  // 128 queries a block: q once, k and v once for each block, as far as its last query sees them; o and lse once. Keys
  // come in tiles of 64 (hopper: 128). Shared memory has 128 bytes in a pass: a tile of keys stores k and v, and each of 4 warps reads
  // its 32 queries, k and v; with d = 64, where one of its queries sees a key of the tile. q is stored once.
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s = attention_of(c);
    const std::size_t tile = id_ == "hopper" ? 128 : 64;
    const double heads = static_cast<double>(s.batch * s.heads), row = static_cast<double>(s.d * 2) / 32;
    auto tiles_of = [&](std::size_t query) { return (s.seen(std::min(query, s.queries - 1)) + tile - 1) / tile; };
    double keys = 0, steps = 0, reads = 0;
    for (std::size_t first = 0; first < s.queries; first += 128) {
      const std::size_t seen = tiles_of(first + 127);
      steps += static_cast<double>(seen);
      keys += static_cast<double>(std::min(s.keys, seen * tile));
      for (std::size_t warp = 0; warp < 128; warp += 32)
        reads += static_cast<double>(s.d == 64 ? tiles_of(first + warp + 31) : seen);
    }
    const double queries = static_cast<double>(s.queries), k = static_cast<double>(tile);
    const double wavefronts = heads * row / 4 * (steps * 2 * k + reads * (32 + 2 * k) + queries);
    return {{"load_sectors_over_bound", heads * row * (queries + 2 * keys)},
            {"store_sectors_over_bound", heads * queries * (row + 1.0 / 8)},
            {"shared_wavefronts_over_bound", wavefronts},
            {"conflicts_over_bound", wavefronts}};
  }

 private:
  std::string id_;
};

}  // namespace

std::unique_ptr<TaskCheck> forward() { return std::make_unique<Forward>(); }

std::unique_ptr<TaskCheck> tensor(std::string id) { return std::make_unique<Tensor>(std::move(id)); }

}  // namespace ridge::lab::flash_attention
