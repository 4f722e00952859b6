// Cases, inputs and expected answers of lab 01. All tasks move data: the answer is exact, bit for bit.
#include "checks/check.hpp"

#include <fmt/format.h>

#include "checks/compare.hpp"

namespace {

using namespace ridge::lab;

constexpr std::size_t kFields = 8;

Work moved(double elements) { return {elements, "element", elements * 4, elements * 4}; }

// The largest power of two of elements, at most `want`, whose input and output fit in the memory.
std::int64_t fitting(std::int64_t want, const Request& r) {
  while (want > 1024 && static_cast<std::uint64_t>(want) * 8 > r.memory) want /= 2;
  return want;
}

// Elements of the measured case: enough traffic to judge by.
std::int64_t measured_elements(const Request& r) {
  if (r.backend == Backend::cpu) return r.mode == Mode::check ? 1 << 18 : 1 << 22;
  return fitting(r.mode == Mode::check ? std::int64_t{1} << 26 : std::int64_t{1} << 28, r);
}

// Sizes to try: public ones, and in grade mode a random one that is not known in advance.
std::vector<std::int64_t> tried(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, high / 2, high));
  return sizes;
}

class Copy : public TaskCheck {
 public:
  std::string id() const override { return "copy"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 65537}, 100000)) all.push_back({fmt::format("n {}", n), {n}});
    std::int64_t n = measured_elements(r);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    auto bytes = static_cast<std::size_t>(c.size[0]) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(floats(in[0]), seed); }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    return compare_exact(
        floats(out[0]), [&](std::size_t i) { return x[i]; }, [](std::size_t i) { return fmt::format("out[{}]", i); });
  }
  Work work(const Case& c) const override { return moved(static_cast<double>(c.size[0])); }
};

class AosToSoa : public TaskCheck {
 public:
  std::string id() const override { return "aos_to_soa"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 33, 1000, 10007}, 20000)) all.push_back({fmt::format("{} particles", n), {n}});
    std::int64_t n = measured_elements(r) / kFields;
    all.push_back({fmt::format("{} particles", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    auto bytes = static_cast<std::size_t>(c.size[0] * kFields) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(floats(in[0]), seed); }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    static constexpr const char* names[kFields] = {"x", "y", "z", "mass", "vx", "vy", "vz", "charge"};
    auto x = floats(in[0]);
    auto n = static_cast<std::size_t>(c.size[0]);
    const auto got = floats(out[0]);
    return compare_parts<ExactTally<float>>(
        got.size(), (n + kTogether - 1) / kTogether, 128,
        [&](std::size_t from, std::size_t to, ExactTally<float>& tally) {
          float field[kTogether];
          for (std::size_t first = from * kTogether; first < std::min(to * kTogether, n); first += kTogether) {
            const std::size_t count = std::min(kTogether, n - first);
            for (std::size_t f = 0; f < kFields; ++f) {
              for (std::size_t i = 0; i < count; ++i) field[i] = x[(first + i) * kFields + f];
              tally.add(f * n + first, got.subspan(f * n + first, count), field);
            }
          }
        },
        [&](std::size_t i) { return fmt::format("{} of particle {}", names[i / n], i % n); }, Extent::share);
  }
  Work work(const Case& c) const override { return moved(static_cast<double>(c.size[0] * kFields)); }
};

class Transpose : public TaskCheck {
 public:
  std::string id() const override { return "transpose"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    // Then each side a multiple of 4 where the other one is not, with each remainder: float4 is no choice there.
    std::vector<std::array<std::int64_t, 2>> shapes = {{1, 1},   {33, 65}, {257, 510}, {1, 4099}, {4099, 1}, {64, 96},
                                                       {64, 97}, {64, 98}, {64, 95},   {97, 64},  {98, 64},  {95, 64}};
    if (r.mode == Mode::grade) shapes.push_back({random_size(r.seed, 100, 400), random_size(r.seed + 1, 100, 400)});
    for (auto [rows, cols] : shapes) all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}});
    std::int64_t rows = 32, n = measured_elements(r);
    while (rows * rows * 2 < n) rows *= 2;  // rows x cols, near to square, never square
    std::int64_t cols = n / rows;
    if (rows == cols) rows /= 2, cols *= 2;
    all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    auto bytes = static_cast<std::size_t>(c.size[0] * c.size[1]) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(floats(in[0]), seed); }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    auto rows = static_cast<std::size_t>(c.size[0]), cols = static_cast<std::size_t>(c.size[1]);
    const auto got = floats(out[0]);
    constexpr std::size_t side = 16;  // columns of a tile: whole cache lines
    return compare_parts<ExactTally<float>>(
        got.size(), (cols + side - 1) / side, (1 << 18) / side / rows + 1,
        [&](std::size_t from, std::size_t to, ExactTally<float>& tally) {
          float tile[side][kTogether];
          for (std::size_t col = from * side; col < std::min(to * side, cols); col += side)
            for (std::size_t row = 0; row < rows; row += kTogether) {
              const std::size_t width = std::min(side, cols - col), height = std::min(kTogether, rows - row);
              for (std::size_t i = 0; i < height; ++i)
                for (std::size_t k = 0; k < width; ++k) tile[k][i] = x[(row + i) * cols + col + k];
              for (std::size_t k = 0; k < width; ++k) {
                const std::size_t first = (col + k) * rows + row;
                tally.add(first, got.subspan(first, height), tile[k]);
              }
            }
        },
        [&](std::size_t i) { return fmt::format("out[{}][{}]", i / rows, i % rows); }, Extent::share);
  }
  Work work(const Case& c) const override { return moved(static_cast<double>(c.size[0] * c.size[1])); }
  std::vector<Bound> bounds(const Case& c) const override {  // each element passes through shared memory once each way
    return {{"conflicts_over_bound", 2 * static_cast<double>(c.size[0] * c.size[1]) / 32}};
  }
};

// size: rows of the table, rows to gather, width.
class Gather : public TaskCheck {
 public:
  std::string id() const override { return "gather"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t table, std::int64_t rows, std::int64_t width, bool measured = false) {
      all.push_back({fmt::format("{} x {} of {} rows", rows, width, table), {table, rows, width}, measured});
    };
    // Then rows of each length around the number of a warp's lanes, in floats and in float4.
    static constexpr std::array<std::int64_t, 3> shapes[] = {
        {1, 1, 1},        {7, 1000, 33}, {300, 257, 64}, {1000, 33, 10}, {50, 99, 1023},
        {1003, 515, 100}, {9, 31, 512},  {5, 3, 4099},   {40, 77, 7},    {30, 67, 3},
        {21, 203, 28},    {19, 45, 12},  {23, 101, 15},  {17, 61, 60},   {11, 37, 250}};
    for (auto [table, rows, width] : shapes) add(table, rows, width);
    if (r.mode == Mode::grade)
      add(random_size(r.seed, 100, 1000), random_size(r.seed + 1, 100, 1000), random_size(r.seed + 2, 20, 200));
    // A row of 72 floats is 9 sectors, and 18 float4 for 32 lanes. On a GPU a short row and a long one are measured;
    // the table holds as many rows as are gathered, so that the L2 cache serves hardly any of them.
    Request room = r;
    room.memory -= room.memory / 64;  // for the indices
    const std::int64_t n = measured_elements(room);
    const std::vector<std::int64_t> widths =
        r.backend == Backend::cpu ? std::vector<std::int64_t>{72} : std::vector<std::int64_t>{128, 1000};
    for (std::int64_t width : widths) {
      const std::int64_t rows = r.backend == Backend::cpu ? (n + width - 1) / width : n / width;
      add(rows, rows, width, true);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    auto row = static_cast<std::size_t>(c.size[2]) * 4, rows = static_cast<std::size_t>(c.size[1]);
    return {{static_cast<std::size_t>(c.size[0]) * row, rows * 4}, {rows * row}};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_normal(floats(in[0]), seed);
    auto index = as<std::int32_t>(in[1]);
    const auto table = static_cast<std::uint64_t>(c.size[0]);
    parallel_for(index.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) index[i] = static_cast<std::int32_t>(random_bits(seed + 1, i) % table);
    });
  }
  std::size_t value_bytes(const Case&, std::size_t input) const override { return input == 0 ? 4 : 0; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    auto index = as<std::int32_t>(in[1]);
    auto width = static_cast<std::size_t>(c.size[2]);
    return compare_exact(
        floats(out[0]),
        [&](std::size_t i) { return x[static_cast<std::size_t>(index[i / width]) * width + i % width]; },
        [&](std::size_t i) { return fmt::format("out[{}][{}]", i / width, i % width); });
  }
  Work work(const Case& c) const override {
    Work w = moved(static_cast<double>(c.size[1] * c.size[2]));
    w.bytes_read += static_cast<double>(c.size[1]) * 4;  // the indices
    return w;
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Copy>());
  checks.push_back(std::make_unique<AosToSoa>());
  checks.push_back(std::make_unique<Transpose>());
  checks.push_back(std::make_unique<Gather>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("01_coalescing", make);

}  // namespace
