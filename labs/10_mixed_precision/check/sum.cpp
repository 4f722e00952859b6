// Task `sum` of lab 10: sums of bf16 values.
#include <mutex>
#include <vector>

#include "ceilings/profile.hpp"
#include "checks/share.hpp"
#include "checks/stream.hpp"
#include "checks/variants.hpp"
#include "checks/wide.hpp"
#include "common.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// The values of column k: factor[k] x (N / 2 + shift[k]), N close to N(0, 1).
struct Columns {
  std::vector<float> shift, factor;
  explicit Columns(std::size_t cols) : shift(cols), factor(cols) {
    for (std::size_t k = 0; k < cols; ++k) {
      shift[k] = k % 3 == 0 ? 0.0f : 1.0f;
      factor[k] = k % 8 == 5 ? 1e30f : k % 8 == 6 ? 1e-30f : 1.0f;
    }
  }
};

// N is the scaled sum of a word's four bytes, a multiple of 2^-8: all steps are exact, on every machine, until bf16.
RIDGE_WIDE void to_column_values(std::span<const std::uint32_t> words, const Columns& columns, Bf16* to) {
  const std::uint32_t* from = words.data();
  const float *shift = columns.shift.data(), *factor = columns.factor.data();
  const auto n = static_cast<std::uint32_t>(words.size());
#pragma omp simd
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t pairs = (from[k] & 0x00FF00FFu) + (from[k] >> 8 & 0x00FF00FFu);
    const auto sum = static_cast<std::int32_t>((pairs & 0xFFFF) + (pairs >> 16));  // mean 510, deviation 147.8
    to[k] = rounded((static_cast<float>(2 * sum - 1019) * 0x1p-9f + shift[k]) * factor[k]);
  }
}

// Sums of columns: `cols` numbers each.
struct Sums {
  std::vector<double> sum, magnitude, squares;
  explicit Sums(std::size_t cols) : sum(cols), magnitude(cols), squares(cols) {}
};

RIDGE_WIDE void add_row(const Bf16* row, Sums& to, std::size_t from, std::size_t end) {
  double *sum = to.sum.data(), *magnitude = to.magnitude.data(), *squares = to.squares.data();
#pragma omp simd
  for (std::size_t k = from; k < end; ++k) {
    const double x = static_cast<double>(row[k]);
    sum[k] += x;
    magnitude[k] += std::fabs(x);
    squares[k] += x * x;
  }
}

constexpr std::size_t kColumns = 16;  // that are compared together or not at all
static_assert(kColumns / 16 <= 1, "compare_parts draws among the same blocks");

// The columns that are compared, as ranges.
std::vector<std::pair<std::size_t, std::size_t>> compared_columns(std::size_t cols) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  const std::size_t blocks = (cols + kColumns - 1) / kColumns;
  for (std::size_t b = 0; b < blocks; ++b) {
    if (!compares(b, blocks)) continue;
    const std::size_t first = b * kColumns, end = std::min(cols, first + kColumns);
    if (!ranges.empty() && ranges.back().second == first)
      ranges.back().second = end;
    else
      ranges.emplace_back(first, end);
  }
  return ranges;
}

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
  // So many rows are worth a thread of the host.
  static std::size_t rows_together(std::size_t cols) { return std::max<std::size_t>(1, (std::size_t{1} << 18) / cols); }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0] * c.size[1]), cols = at(c.size[1]);
    return {{n * 2}, {cols * 4}, std::max(c.measured ? n : 0, 4096 * cols)};  // n: where the baseline copies to
  }
  // Some columns are far beyond fp16's range. Most gradients agree in sign, as a bias's do: sums grow with the rows, and
  // a 16-bit accumulator loses further terms.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto to = as<Bf16>(in[0]);
    const std::size_t cols = at(c.size[1]);
    const Columns columns(cols);
    parallel_for(
        at(c.size[0]),
        [&](std::size_t from, std::size_t end) {
          std::vector<std::uint32_t> row(cols);
          std::vector<Bf16> values(cols);
          for (std::size_t r = from; r < end; ++r) {
            fill_bits(row, seed, r * cols);
            to_column_values(row, columns, values.data());
            copy_past_caches(to.subspan(r * cols, cols), values.data());
          }
        },
        rows_together(cols));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto x = as<Bf16>(in[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    Sums all(cols);
    const auto columns = compared_columns(cols);
    std::mutex one_at_a_time;
    parallel_for(
        rows,
        [&](std::size_t from, std::size_t end) {
          Sums part(cols);
          for (std::size_t r = from; r < end; ++r)
            for (const auto& [first, last] : columns) add_row(&x[r * cols], part, first, last);
          const std::lock_guard lock(one_at_a_time);
          for (std::size_t k = 0; k < cols; ++k) {
            all.sum[k] += part.sum[k];
            all.magnitude[k] += part.magnitude[k];
            all.squares[k] += part.squares[k];
          }
        },
        rows_together(cols));
    const auto got = floats(out[0]);
    Verdict v = compare_parts<CloseTally>(
        cols, (cols + kColumns - 1) / kColumns, kColumns,
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          for (std::size_t k = from * kColumns; k < std::min(cols, to * kColumns); ++k)
            tally.add(k, double{got[k]},
                      Tolerance{}.of({static_cast<double>(rows), all.sum[k], all.magnitude[k], all.squares[k]}));
        },
        named("out"), Extent::share);
    if (!v.ok && compares_all()) tell_mistake(v, x, all.sum, got, rows);
    return v;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "flop", n * 2, static_cast<double>(c.size[1]) * 4};
  }
  // Numbers that were fp16 on the way, or last rows that are in no sum.
  static void tell_mistake(Verdict& v, std::span<const Bf16> x, const std::vector<double>& sums,
                           std::span<const float> got, std::size_t rows) {
    constexpr std::size_t kMostRows = 64;  // that may be lost
    constexpr double kNear = 1e-5;
    const std::size_t cols = sums.size();
    std::vector<double> halves(cols);
    for (std::size_t i = 0; i < x.size() && cols <= kMostVaried; ++i)
      halves[i % cols] += value_of(to_half(static_cast<float>(static_cast<double>(x[i]))));
    auto out = [&](std::size_t k) { return got[k]; };
    bool told = tell_variant(v, cols, out,
                             {{"out is the sum of the numbers as fp16: what is above 65504 has become inf, and what is "
                               "below 2^-24 has become "
                               "0. Where is a number turned into __half?",
                               [&](std::size_t k) { return halves[k]; }}},
                             kNear);
    std::vector<double> rest = sums;
    for (std::size_t lost = 1; lost <= std::min(rows, kMostRows) && !told; ++lost) {
      for (std::size_t k = 0; k < cols; ++k) rest[k] -= static_cast<double>(x[(rows - lost) * cols + k]);
      told = tell_variant(v, cols, out,
                          {{(rows == 1      ? "in has 1 row, and that row is in no sum"
                             : lost == rows ? fmt::format("none of the {} rows is in a sum", rows)
                             : lost == 1    ? std::string("the last row is in no sum")
                                            : fmt::format("the last {} rows are in no sum", lost)) +
                                ": which loop takes the rows that do not fill a group?",
                            [&](std::size_t k) { return rest[k]; }}},
                          kNear, 0);
    }
    if (told) v.cause = Cause::none;
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
