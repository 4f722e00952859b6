// Cases, inputs and expected answers of lab 02.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "checks/compare.hpp"
#include "checks/freivalds.hpp"
#include "checks/variants.hpp"
#include "checks/wide.hpp"

namespace {

using namespace ridge::lab;

constexpr std::size_t kRadius = 2, kSide = 5;
// As in tiling.hpp.
constexpr double kWeights[kSide][kSide] = {
    {3, 7, 12, 5, 2}, {8, 21, 33, 17, 6}, {11, 37, 64, 29, 9}, {4, 19, 27, 23, 10}, {1, 13, 15, 14, 16}};

std::size_t bytes_of(std::int64_t rows, std::int64_t cols) { return static_cast<std::size_t>(rows * cols) * 4; }

// The terms so far of a row's cells, in double.
struct Terms {
  double sum[kTogether], magnitude[kTogether], squares[kTogether];
};

// Adds the terms of one row of neighbours, which begins 2 columns to the left of the cells.
RIDGE_WIDE void add_terms(const double* x, const double* weights, std::size_t count, Terms& t) {
  const double w0 = weights[0] / 512, w1 = weights[1] / 512, w2 = weights[2] / 512, w3 = weights[3] / 512,
               w4 = weights[4] / 512;
#pragma GCC ivdep
  for (std::size_t k = 0; k < count; ++k) {
    const double a = w0 * x[k], b = w1 * x[k + 1], c = w2 * x[k + 2], d = w3 * x[k + 3], e = w4 * x[k + 4];
    t.sum[k] += a + b + c + d + e;
    t.magnitude[k] += std::fabs(a) + std::fabs(b) + std::fabs(c) + std::fabs(d) + std::fabs(e);
    t.squares[k] += a * a + b * b + c * c + d * d + e * e;
  }
}

RIDGE_WIDE void expect_cells(const Terms& t, std::size_t count, SumTolerance tolerance, Expecteds& e) {
#pragma GCC ivdep
  for (std::size_t k = 0; k < count; ++k) e.set(k, tolerance.of(t.sum[k], t.magnitude[k], t.squares[k]));
}

// The rows around one, in double, with zeros around the matrix.
class Window {
 public:
  // `first`: the first row to move to, then the next ones in turn.
  Window(std::span<const float> x, std::size_t rows, std::size_t cols, std::size_t first)
      : x_(x), rows_(rows), cols_(cols), kept_(kSide, std::vector<double>(cols + 2 * kRadius)) {
    for (std::size_t y = first; y < first + 2 * kRadius; ++y) keep(y);
  }
  void move_to(std::size_t row) { keep(row + 2 * kRadius); }
  void expect(std::size_t row, std::size_t col, std::size_t count, Expecteds& e) const {
    Terms t{};
    for (std::size_t dy = 0; dy < kSide; ++dy)
      add_terms(kept_[(row + dy) % kSide].data() + col, kWeights[dy], count, t);
    const std::size_t down = inside(row, rows_);
    expect_cells(t, count, Tolerance{}.of_length(static_cast<double>(down * kSide)), e);
    for (std::size_t i = 0; i < 2 * kRadius; ++i) {  // at the edges: fewer terms
      const std::size_t edge = i < kRadius ? i : cols_ + kRadius - 1 - i, k = edge - col;
      if (edge < col || k >= count) continue;
      const std::size_t across = inside(edge, cols_);
      e.set(k, Tolerance{}.of({static_cast<double>(down * across), t.sum[k], t.magnitude[k], t.squares[k]}));
    }
  }

 private:
  // Rows are counted from kRadius above the matrix on.
  void keep(std::size_t y) {
    auto& to = kept_[y % kSide];
    std::fill(to.begin(), to.end(), 0.0);
    if (y < kRadius || y - kRadius >= rows_) return;
    const auto row = x_.subspan((y - kRadius) * cols_, cols_);
    std::copy(row.begin(), row.end(), to.begin() + kRadius);
  }
  // How many of i - kRadius ... i + kRadius are in [0, n).
  static std::size_t inside(std::size_t i, std::size_t n) {
    return std::min(i + kRadius + 1, n) - (i < kRadius ? 0 : i - kRadius);
  }

  std::span<const float> x_;
  std::size_t rows_, cols_;
  std::vector<std::vector<double>> kept_;
};

// The stencil of a small grid, of cells that `cell(y, x)` gives and weights that `weight(dy, dx)` gives.
template <class Cell, class Weight>
std::function<double(std::size_t)> stencil_by(std::size_t cols, Cell cell, Weight weight) {
  return [=](std::size_t i) {
    const auto row = static_cast<std::ptrdiff_t>(i / cols), col = static_cast<std::ptrdiff_t>(i % cols);
    constexpr auto radius = static_cast<std::ptrdiff_t>(kRadius);
    double sum = 0;
    for (std::ptrdiff_t dy = -radius; dy <= radius; ++dy)
      for (std::ptrdiff_t dx = -radius; dx <= radius; ++dx) sum += weight(dy, dx) / 512 * cell(row + dy, col + dx);
    return sum;
  };
}

// What mistakes with the edges and the weights give.
std::vector<Variant> stencil_mistakes(std::span<const float> x, std::size_t rows, std::size_t cols) {
  const auto m = static_cast<std::ptrdiff_t>(rows), n = static_cast<std::ptrdiff_t>(cols);
  auto inside = [=](std::ptrdiff_t y, std::ptrdiff_t z) {
    return y < 0 || y >= m || z < 0 || z >= n ? 0.0 : double{x[static_cast<std::size_t>(y * n + z)]};
  };
  auto clamped = [=](std::ptrdiff_t y, std::ptrdiff_t z) {
    return inside(std::clamp<std::ptrdiff_t>(y, 0, m - 1), std::clamp<std::ptrdiff_t>(z, 0, n - 1));
  };
  auto wrapped = [=](std::ptrdiff_t y, std::ptrdiff_t z) { return inside(((y % m) + m) % m, ((z % n) + n) % n); };
  // Only the place in the array is looked at: left of a row is the end of the row before.
  auto running_on = [=](std::ptrdiff_t y, std::ptrdiff_t z) {
    const std::ptrdiff_t i = y * n + z;
    return i < 0 || i >= m * n ? 0.0 : double{x[static_cast<std::size_t>(i)]};
  };
  auto weight = [](std::ptrdiff_t dy, std::ptrdiff_t dx) {
    return double{kWeights[static_cast<std::size_t>(dy + 2)][static_cast<std::size_t>(dx + 2)]};
  };
  auto mirrored = [=](std::ptrdiff_t dy, std::ptrdiff_t dx) { return weight(-dy, -dx); };
  auto transposed = [=](std::ptrdiff_t dy, std::ptrdiff_t dx) { return weight(dx, dy); };
  std::vector<Variant> all = {
      {"cells outside of the grid count, with the nearest cell's value: they count as 0",
       stencil_by(cols, clamped, weight)},
      {"that is the answer if the cell left of a row is the end of the row before: column and row must each be inside",
       stencil_by(cols, running_on, weight)},
      {"cells outside of the grid count, with the value of one from the other side: they count as 0",
       stencil_by(cols, wrapped, weight)},
      {"that is the answer with mirrored weights: weight(dy, dx) belongs to the cell (y + dy - 2, x + dx - 2)",
       stencil_by(cols, inside, mirrored)},
      {"that is the answer with dy and dx exchanged in the weights", stencil_by(cols, inside, transposed)}};
  for (const std::ptrdiff_t by : {1, -1}) {
    all.push_back({"that is the answer of a neighbouring column: the tile, or its index, is one column off",
                   stencil_by(
                       cols, [=](std::ptrdiff_t y, std::ptrdiff_t z) { return inside(y, z + by); }, weight)});
    all.push_back({"that is the answer of a neighbouring row: the tile, or its index, is one row off",
                   stencil_by(
                       cols, [=](std::ptrdiff_t y, std::ptrdiff_t z) { return inside(y + by, z); }, weight)});
  }
  return all;
}

class Stencil : public TaskCheck {
 public:
  std::string id() const override { return "stencil"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    // Smaller than the halo, thin, one more than a tile, no multiple of anything, and one whose rows are whole float4.
    std::vector<std::array<std::int64_t, 2>> shapes = {{1, 1},    {2, 3},     {1, 301}, {301, 1},
                                                       {65, 129}, {150, 211}, {91, 260}};
    if (r.mode == Mode::grade) shapes.push_back({random_size(r.seed, 100, 300), random_size(r.seed + 1, 100, 300)});
    for (auto [rows, cols] : shapes) all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}});
    std::int64_t rows = 256, cols = 512;
    if (r.backend == Backend::cpu && r.mode == Mode::grade) rows = 512, cols = 1024;
    if (r.backend == Backend::cuda) {
      rows = cols = r.mode == Mode::check ? 8192 : 16384;
      while (rows > 256 && bytes_of(rows, cols) * 2 > r.memory) rows /= 2;
    }
    all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, true});
    return all;
  }

  Shape shape(const Case& c) const override {
    const std::size_t bytes = bytes_of(c.size[0], c.size[1]);
    return {{bytes}, {bytes}};
  }

  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_uniform(floats(in[0]), seed); }

  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto rows = static_cast<std::size_t>(c.size[0]), cols = static_cast<std::size_t>(c.size[1]);
    const auto x = floats(in[0]), got = floats(out[0]);
    Verdict v = compare_parts<CloseTally>(
        got.size(), rows, std::max<std::size_t>(1, (1 << 14) / cols),
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          Window window(x, rows, cols, from);
          Expecteds e;
          for (std::size_t row = from; row < to; ++row) {
            window.move_to(row);
            for (std::size_t col = 0; col < cols; col += kTogether) {
              const std::size_t first = row * cols + col, count = std::min(kTogether, cols - col);
              window.expect(row, col, count, e);
              tally.add(first, got.subspan(first, count), e);
            }
          }
        },
        [&](std::size_t i) { return fmt::format("out[{}][{}]", i / cols, i % cols); }, Extent::share);
    tell_variant(
        v, got.size(), [&](std::size_t i) { return got[i]; }, stencil_mistakes(x, rows, cols), 1e-5);
    return v;
  }

  // Loads: those of 64 x 64 tiles with their halo. A row is 68 floats, in requests of 5, 5 and 2 sectors. Wavefronts: a
  // thread that computes 8 cells of a column reads 12 rows x 5 cells, and the block stores the tile.
  std::vector<Bound> bounds(const Case& c) const override {
    const double cells = static_cast<double>(c.size[0] * c.size[1]);
    return {{"load_sectors_over_bound", cells / 8 * (64 + 2 * kRadius) / 64 * 12 / 8},
            {"shared_wavefronts_over_bound", cells / 32 * 9},
            {"conflicts_over_bound", cells / 32 * 9}};
  }

  Work work(const Case& c) const override {
    const double cells = static_cast<double>(c.size[0] * c.size[1]);
    return {cells * 2 * kSide * kSide, "flop", cells * 4, cells * 4};
  }
};

class Sgemm : public TaskCheck {
 public:
  std::string id() const override { return "sgemm"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<std::array<std::int64_t, 3>> shapes = {{1, 1, 1},   {33, 65, 17},   {1, 200, 100},   {200, 1, 33},
                                                       {65, 68, 1}, {129, 132, 71}, {257, 129, 100}, {1100, 64, 5}};
    // Wide enough for large tiles on every multiprocessor; ragged sizes, since some kernels treat them separately.
    if (r.backend == Backend::cuda) {
      for (const auto& large : {std::array<std::int64_t, 3>{1025, 2047, 515}, {3333, 1540, 333}})
        shapes.push_back(large);
    } else if (r.mode == Mode::grade) {
      for (const auto& large : {std::array<std::int64_t, 3>{2049, 1796, 9}, {2177, 1792, 9}, {1411, 1537, 9}})
        shapes.push_back(large);
    }
    if (r.mode == Mode::grade)
      shapes.push_back(
          {random_size(r.seed, 40, 140), random_size(r.seed + 1, 40, 140), random_size(r.seed + 2, 40, 140)});
    std::vector<Case> all;
    for (auto [m, n, k] : shapes) all.push_back({fmt::format("{} x {} x {}", m, n, k), {m, n, k}});
    if (r.backend == Backend::cpu) {
      const std::int64_t m = r.mode == Mode::check ? 128 : 256, k = r.mode == Mode::check ? 128 : 256;
      all.push_back({fmt::format("{} x {} x {}", m, 256, k), {m, 256, k}, true});
    } else {
      for (std::int64_t n : {2048, 4096, 8192}) {
        if (r.mode == Mode::check && n > 4096) continue;
        if (n == 2048 || 3 * bytes_of(n, n) <= r.memory)
          all.push_back({fmt::format("{0} x {0} x {0}", n), {n, n, n}, true});
      }
    }
    return all;
  }

  Shape shape(const Case& c) const override {
    const std::int64_t m = c.size[0], n = c.size[1], k = c.size[2];
    return {{bytes_of(m, k), bytes_of(k, n)}, {bytes_of(m, n)}};
  }

  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_normal(floats(in[0]), seed);
    fill_normal(floats(in[1]), seed + 1);
  }

  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto m = static_cast<std::size_t>(c.size[0]), n = static_cast<std::size_t>(c.size[1]),
               k = static_cast<std::size_t>(c.size[2]);
    const auto a = floats(in[0]), b = floats(in[1]), got = floats(out[0]);
    if (m * n * k > std::size_t{1} << 24) {
      Product p;
      p.a = a, p.b = b, p.c = got, p.rows = m, p.cols = n, p.depth = k;
      return freivalds(p);
    }
    return compare_close<float>(
        got,
        [&](std::size_t i) {
          Reduction sum;
          for (std::size_t p = 0; p < k; ++p) sum.add(double{a[i / n * k + p]} * double{b[p * n + i % n]});
          return Tolerance{}.of(sum);
        },
        [&](std::size_t i) { return fmt::format("C[{}][{}]", i / n, i % n); }, k);
  }

  // Loads: those of 64 x 64 tiles of C. Stores: every element of C once. Wavefronts: 8 x 8 elements a thread, read as float4 by lanes of which two share
  // an address, and the stores of the tiles. Barriers: one for 16 of k, and the first.
  std::vector<Bound> bounds(const Case& c) const override {
    const double m = static_cast<double>(c.size[0]), n = static_cast<double>(c.size[1]),
                 k = static_cast<double>(c.size[2]);
    const double products = m * n * k;
    return {{"load_sectors_over_bound", products * (1.0 / 64 + 1.0 / 64) / 8},
            {"store_sectors_over_bound", m * n / 8},
            {"shared_wavefronts_over_bound", products / 32 * (8.0 / 64 + 2.0 / 64)},
            {"conflicts_over_bound", products / 32 * (8.0 / 64 + 2.0 / 64)},
            {"barriers_over_bound", m * n / (64 * 64) * (k / 16 + 1)}};
  }

  Work work(const Case& c) const override {
    const double m = static_cast<double>(c.size[0]), n = static_cast<double>(c.size[1]),
                 k = static_cast<double>(c.size[2]);
    return {2 * m * n * k, "flop", 4 * (m * k + k * n), 4 * m * n};
  }
};

// The tasks on the way to sgemm: its product, fewer cases, and the bounds of the step of the climb that a task is about.
class SgemmStep : public Sgemm {
 public:
  // tile: of C, whose loads the bound counts.
  SgemmStep(std::string id, double tile) : id_(std::move(id)), tile_(tile) {}
  std::string id() const override { return id_; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<std::array<std::int64_t, 3>> shapes = {{1, 1, 1},   {33, 65, 17},   {1, 200, 100},  {200, 1, 33},
                                                       {65, 68, 1}, {129, 132, 71}, {257, 129, 100}};
    if (r.backend == Backend::cuda) shapes.push_back({1025, 2047, 515});
    if (r.mode == Mode::grade)
      shapes.push_back(
          {random_size(r.seed, 40, 140), random_size(r.seed + 1, 40, 140), random_size(r.seed + 2, 40, 140)});
    std::vector<Case> all;
    for (auto [m, n, k] : shapes) all.push_back({fmt::format("{} x {} x {}", m, n, k), {m, n, k}});
    std::int64_t m = r.mode == Mode::check ? 128 : 256, n = 256, k = m;
    if (r.backend == Backend::cuda) m = n = k = 3 * bytes_of(4096, 4096) <= r.memory ? 4096 : 2048;
    all.push_back({fmt::format("{} x {} x {}", m, n, k), {m, n, k}, true});
    return all;
  }

  // Wavefronts: 8 x 8 elements a thread, a float for each wavefront, and the stores of the tiles. Barriers: one for each
  // step of 8 along k of a tile of 128 x 128, and the first.
  std::vector<Bound> bounds(const Case& c) const override {
    const double m = static_cast<double>(c.size[0]), n = static_cast<double>(c.size[1]),
                 k = static_cast<double>(c.size[2]);
    const double products = m * n * k;
    return {{"load_sectors_over_bound", products * (2 / tile_) / 8},
            {"store_sectors_over_bound", m * n / 8},
            {"shared_wavefronts_over_bound", products / 32 * (16.0 / 64 + 2.0 / 64)},
            {"conflicts_over_bound", products / 32 * (16.0 / 64 + 2.0 / 64)},
            {"barriers_over_bound", m * n / (128 * 128) * (k / 8 + 1)}};
  }

 private:
  std::string id_;
  double tile_;
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Stencil>());
  checks.push_back(std::make_unique<SgemmStep>("sgemm_shared", 32));
  checks.push_back(std::make_unique<SgemmStep>("sgemm_registers", 64));
  checks.push_back(std::make_unique<SgemmStep>("sgemm_async", 64));
  checks.push_back(std::make_unique<Sgemm>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("02_tiling", make);

}  // namespace
