// online_softmax: rows with their largest score first, last and in the middle; masked keys, tiles and rows.
#include "attention.hpp"
#include "checks/variants.hpp"
#include "tasks.hpp"

namespace ridge::lab::flash_attention {

namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

class OnlineSoftmax : public TaskCheck {
 public:
  std::string id() const override { return "online_softmax"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t rows, std::int64_t cols, bool measured) {
      all.push_back({fmt::format("rows {} cols {}", rows, cols), {rows, cols}, measured});
    };
    add(9, 31, false), add(1, 1, false), add(12, 257, false), add(7, 1000, false), add(33, 1543, false);
    if (r.mode == Mode::grade) add(random_size(r.seed, 40, 90), random_size(r.seed + 1, 300, 900), false);
    if (r.backend == Backend::cpu)
      add(r.mode == Mode::check ? 64 : 128, 2048, true);
    else
      add(8192, 8192, true);
    if (r.backend == Backend::cuda && r.mode == Mode::grade) add(65536, 1024, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = rows(c) * cols(c) * sizeof(float);
    return {{n, n}, {rows(c) * sizeof(float), rows(c) * sizeof(float)}};
  }
  // Row r: scores around 0 (r mod 8 = 0); one of +-200 first (1), last (2), in the middle (3); scores that rise from
  // tile to tile (4); masked first keys (5), last keys (6), all keys (7).
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto scores = floats(in[0]);
    fill_normal(scores, random_bits(seed, 0));
    fill_normal(floats(in[1]), random_bits(seed, 1));
    const std::size_t n = cols(c);
    parallel_for(rows(c), [&](std::size_t from, std::size_t to) {
      for (std::size_t r = from; r < to; ++r) {
        float* row = scores.data() + r * n;
        const auto kind = r % 8;
        if (kind >= 1 && kind <= 3) row[kind == 1 ? 0 : kind == 2 ? n - 1 : n / 2] += r % 16 < 8 ? 200.0f : 100.0f;
        if (kind == 4)
          for (std::size_t j = 0; j < n; ++j) row[j] += 100 * static_cast<float>(j) / static_cast<float>(n);
        const std::size_t first = kind == 6 ? n - n / 3 : 0, last = kind == 5 ? n / 2 + n / 8 : n;
        for (std::size_t j = first; kind >= 5 && j < last; ++j) row[j] = kMasked;
      }
    });
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return sizeof(float); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto scores = floats(in[0]), values = floats(in[1]);
    const std::size_t n = cols(c);
    auto row = [&](std::size_t r) {
      Row made;
      made.s.assign(scores.begin() + static_cast<std::ptrdiff_t>(r * n),
                    scores.begin() + static_cast<std::ptrdiff_t>((r + 1) * n));
      finish(made);
      return made;
    };
    const auto all = rows_to_compare(rows(c), 1, 0);
    Verdict v = compare_rows("out", floats(out[0]), 1, rows(c), all, n, [&](std::size_t r, Expected* e) {
      const Row made = row(r);
      WeightedSum sum(1);
      const float* of_row = values.data() + r * n;
      for (std::size_t j = 0; j < n; ++j) sum.add(made.weight[j], of_row + j);
      for (std::size_t j = 0; j < n; ++j) sum.inherit(made.weight[j] * made.deviation[j], of_row + j, sum.sum.data());
      sum.expect(kInFp32, 1, 0, e);
    });
    if (!v.ok) return v;
    return compare_rows("lse", floats(out[1]), 1, rows(c), all, n,
                        [&](std::size_t r, Expected* e) { *e = expected_lse(row(r)); });
  }
  Work work(const Case& c) const override {
    const double n = static_cast<double>(rows(c) * cols(c));
    return {5 * n, "flop", 8 * n, 8 * static_cast<double>(rows(c))};
  }
  // Each score and each value once.
  std::vector<Bound> bounds(const Case& c) const override {
    const double n = static_cast<double>(rows(c) * cols(c));
    return {{"load_sectors_over_bound", 8 * n / 32}};
  }

 private:
  static std::size_t rows(const Case& c) { return static_cast<std::size_t>(c.size[0]); }
  static std::size_t cols(const Case& c) { return static_cast<std::size_t>(c.size[1]); }
};

}  // namespace

std::unique_ptr<TaskCheck> online_softmax() { return std::make_unique<OnlineSoftmax>(); }

}  // namespace ridge::lab::flash_attention
