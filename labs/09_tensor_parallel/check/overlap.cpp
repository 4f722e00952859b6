// Task `overlap` of lab 09: the MLP in chunks, collectives beside products.
#include "mlp.hpp"

namespace ridge::lab::tensor_parallel {

namespace {

class Overlap : public MlpTask {
 public:
  std::string id() const override { return "overlap"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (int p : r.ranks) {
      add(all, p, p, 10, 12, 3);        // more chunks than rows
      add(all, p, 13 * p, 10, 12, 6);   // 3, 3, 3, 3, 1 rows: five chunks
      add(all, p, 33 * p, 10, 12, 16);  // 3 rows each: eleven chunks
      add(all, p, 7 * p, 10, 12, 1);
      add(all, p, p * (r.mode == Mode::grade ? random_size(r.seed, 11, 30) : 19), 45, 21 * p, 4);
    }
    if (r.ranks.empty()) return all;
    if (r.backend == Backend::cuda)
      add(all, measured_ranks(r), 8192, 1024, 4096, 4);
    else
      add(all, measured_ranks(r), 2048, 128, 128, 4), all.back().topology = "pcie";
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
  // The kernels' time in four chunks, with nn's products: measured on the emulator (126 us; 130 with another compiler).
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 124.5e-6}}; }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Size n = at(c, 0) / static_cast<Size>(c.ranks), m = (n + at(c, 3) - 1) / at(c, 3),
               p = static_cast<Size>(c.ranks);
    Traffic t(c.ranks);
    t.all_gather(all(c), "an all-gather").all_gather(all(c), "and a reduce-scatter of each chunk");
    t.messages = 2 * ((n + m - 1) / m) * (p - 1) * p;
    return t.compare(messages, Traffic::Fewer::refused);
  }

 protected:
  double products() const override { return 2; }

 private:
  static void add(std::vector<Case>& all, int p, std::int64_t N, std::int64_t C, std::int64_t F, std::int64_t chunks) {
    all.push_back(made(p, {N, C, F, chunks}, fmt::format("N {}, C {}, F {}, {} chunks", N, C, F, chunks)));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> overlap() { return std::make_unique<Overlap>(); }

}  // namespace ridge::lab::tensor_parallel
