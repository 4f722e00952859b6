// spmv: y = A x with rows of equal and of very different lengths.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "checks/same_bits.hpp"
#include "matrices.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

constexpr std::size_t kChunk = 4096;  // as in science.hpp

// Sizes: those of a pattern.
class Spmv : public TaskCheck, public SameBits {
 public:
  std::string id() const override { return "spmv"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](const char* name, const Pattern& p, bool measured = false) {
      Case c{fmt::format("{}, {} rows", name, p.rows), sizes_of(p), measured};
      c.name += fmt::format(", {} entries", c.size[1]);
      all.push_back(c);
    };
    const auto some = static_cast<std::size_t>(r.mode == Mode::grade ? random_size(r.seed, 900, 1700) : 1003);
    add("one entry", {Kind::even, 1, 1});
    add("27 points", {Kind::cube, 7, 343});
    add("one long row", {Kind::one, 500, 1100});
    add("one long row, the last", {Kind::one, 1099, 1100});
    add("rows of 32", {Kind::even, 32, 256});
    add("rows of 200", {Kind::even, 200, 97});
    add("empty rows between chunks and at the end", {Kind::gaps, 0, kGapsRows});
    add("power law", {Kind::power, 700, some});
    if (r.backend == Backend::cpu) {
      const std::int64_t side = r.mode == Mode::check ? 12 : 16;
      const auto cube = static_cast<std::size_t>(side * side * side);
      add("27 points and power law", {Kind::both, side, 2 * cube}, true);
      return all;
    }
    std::int64_t side = r.mode == Mode::check ? 96 : 160;
    while (side > 16 && static_cast<double>(side * side * side) * 240 > static_cast<double>(r.memory)) side /= 2;
    add("27 points", {Kind::cube, side, static_cast<std::size_t>(side * side * side)}, true);
    add("power law", {Kind::power, 1 << 17, std::size_t{1} << (r.mode == Mode::check ? 20 : 22)}, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto rows = static_cast<std::size_t>(c.size[0]), entries = static_cast<std::size_t>(c.size[1]);
    return {{entries * 4, (rows + 1) * 4, entries * 4, rows * 4},
            {rows * 4},
            64 * 1024 + (entries / kChunk + 1) * 8 + rows * 8};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Layout a = layout_of(pattern_of(c), random_bits(seed, 1));
    std::memcpy(in[1].data(), a.starts.data(), in[1].size());
    // Of both signs and several sizes: a sum in another order has other bits.
    fill_lognormal(floats(in[0]), random_bits(seed, 0), 1.5f);
    fill_columns(a, as<std::int32_t>(in[2]));
    fill_normal(floats(in[3]), random_bits(seed, 2));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto values = floats(in[0]), x = floats(in[3]);
    const auto starts = as<std::int32_t>(in[1]), columns = as<std::int32_t>(in[2]);
    auto expected = [&](std::size_t r) {
      Reduction sum;
      for (auto k = static_cast<std::size_t>(starts[r]); k < static_cast<std::size_t>(starts[r + 1]); ++k)
        sum.add(double{values[k]} * double{x[static_cast<std::size_t>(columns[k])]});
      return Tolerance{}.of(sum);
    };
    auto where = [&](std::size_t r) { return fmt::format("y[{}], a row of {} entries", r, starts[r + 1] - starts[r]); };
    return compare_close<float>(floats(out[0]), expected, where, static_cast<std::size_t>(c.size[1] / c.size[0] + 1));
  }
  Verdict verify_again(const Case&, ConstBuffers in, ConstBuffers first, ConstBuffers again) const override {
    const auto starts = as<std::int32_t>(in[1]);
    const auto y = floats(first[0]);
    return other_bits(compare_exact<float>(
        floats(again[0]), [&](std::size_t r) { return y[r]; },
        [&](std::size_t r) { return fmt::format("y[{}], a row of {} entries", r, starts[r + 1] - starts[r]); }));
  }
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), entries = static_cast<double>(c.size[1]);
    return {2 * entries, "flop", 8 * entries + 8 * rows, 4 * rows};
  }
  // Loads: values and columns once, starts twice, and the sectors of x that 32 neighbouring entries need. Instructions:
  // those of a warp for 32 entries and for 32 rows. Tail: a thread that has 1000 instructions more than the mean.
  std::vector<Bound> bounds(const Case& c) const override {
    const Pattern p = pattern_of(c);
    const auto rows = static_cast<double>(p.rows), entries = static_cast<double>(c.size[1]);
    const double loads = (8 * entries + 8 * rows) / 32 + (c.measured ? gathered_sectors(p) : 0);
    return {{"load_sectors_over_bound", loads},
            {"instructions_over_bound", kEntryInstructions * entries / 32 + kRowInstructions * rows / 32},
            {"tail_over_bound", 1000}};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  static constexpr double kEntryInstructions = 30, kRowInstructions = 100;
};

}  // namespace

std::unique_ptr<TaskCheck> spmv() { return std::make_unique<Spmv>(); }

}  // namespace ridge::lab::science
