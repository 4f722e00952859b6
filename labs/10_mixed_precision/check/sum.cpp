// Task `sum` of lab 10: sums of bf16 values.
#include "common.hpp"
#include "roofline/profile.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Sizes: rows, cols.
class Sum : public TaskCheck {
 public:
  std::string id() const override { return "sum"; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t rows, std::int64_t cols, bool measured = false) {
      all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, measured});
    };
    for (auto [rows, cols] : {std::pair{1, 8}, {257, 24}, {3001, 8}, {700, 264}, {37, 2056}, {3, 8200}, {140001, 8}})
      add(rows, cols);
    if (r.mode == Mode::grade) add(random_size(r.seed, 1000, 5000), 8 * random_size(r.seed + 1, 1, 30));
    if (r.backend == Backend::cpu) {
      add(r.mode == Mode::check ? 8192 : 16384, 256, true);
    } else {
      const std::int64_t n = fitting(std::int64_t{1} << (r.mode == Mode::check ? 28 : 30), 4, r);
      add(n / 4096, 4096, true);
      add(n / 1024, 1024, true);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0] * c.size[1]), cols = at(c.size[1]);
    return {{n * 2}, {cols * 4}, std::max(c.measured ? n : 0, 4096 * cols)};  // n: where the baseline copies to
  }
  // Some columns are far beyond what fp16 holds. Gradients that mostly agree, as those of a bias do: sums grow with the rows, and 16 bits stop seeing what comes.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto to = as<Bf16>(in[0]);
    const std::size_t cols = at(c.size[1]);
    parallel_for(
        at(c.size[0]),
        [&](std::size_t from, std::size_t end) {
          std::vector<float> row(cols);
          for (std::size_t r = from; r < end; ++r) {
            fill_normal(row, seed, r * cols);
            for (std::size_t k = 0; k < cols; ++k)
              to[r * cols + k] = to_bf16((row[k] * 0.5f + (k % 3 == 0 ? 0.0f : 1.0f)) * (k % 8 == 5   ? 1e30f
                                                                                         : k % 8 == 6 ? 1e-30f
                                                                                                      : 1));
          }
        },
        std::max<std::size_t>(1, (1 << 18) / cols));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto x = as<Bf16>(in[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    std::vector<Reduction> columns(cols);
    parallel_for(
        cols / 8,
        [&](std::size_t from, std::size_t end) {
          for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t k = from * 8; k < end * 8; ++k) columns[k].add(static_cast<double>(x[r * cols + k]));
        },
        1);
    return compare_close(
        floats(out[0]), [&](std::size_t k) { return Tolerance{}.of(columns[k]); }, named("out"));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "flop", n * 2, static_cast<double>(c.size[1]) * 4};
  }
  // Two kernels, and the bytes at the speed of memory.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto& d = ridge::default_profile().device;
    const double bytes = 2 * static_cast<double>(c.size[0] * c.size[1]);
    return {{"virtual_time_over_bound", d.at("launch_call") + 2 * d.at("kernel_latency") +
                                            bytes / (d.at("dram_bandwidth") * d.at("dram_efficiency"))}};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> sum() { return std::make_unique<Sum>(); }

}  // namespace ridge::lab::mixed_precision
