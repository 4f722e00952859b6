// Task `predict`: launches drawn from the seed. What they do is counted address by address, as the emulator counts it;
// tests/course/test_profiling.cpp holds these counts against the emulator's.
#include <array>
#include <cmath>
#include <numeric>

#include "../model.hpp"
#include "common.hpp"
#include "counted.hpp"

namespace ridge::lab::profiling {

namespace {

constexpr const char* kNames[] = {"strided", "row_sum", "transpose", "halo", "wide", "table"};
constexpr const char* kLimits[] = {"warps", "blocks", "shared_memory", "registers"};
constexpr const char* kRoofs[] = {"l1", "l2", "memory", "latency"};

struct Expected {
  Counted counted;
  std::array<int, 4> fit;  // blocks that each resource lets an SM hold, in the order of Limit
  int blocks, warps;
  double latency;
  std::array<double, 4> roofs;

  bool limited_by(Limit limit) const { return fit[static_cast<std::size_t>(limit)] == blocks; }
  std::size_t highest() const {
    return static_cast<std::size_t>(std::max_element(roofs.begin(), roofs.end()) - roofs.begin());
  }
  // Where roofs lie within 5% of each other, either binds.
  bool binds(Roof roof) const { return roofs[static_cast<std::size_t>(roof)] >= 0.95 * roofs[highest()]; }
};

int rounded(int n, int unit) { return (n + unit - 1) / unit * unit; }

Expected expect(const Launch& l, const Device& d) {
  Expected e{count(l), {}, 0, 0, 0, {}};
  const int warps = l.threads / 32;
  e.fit = {d.warps / warps, d.blocks, d.shared / rounded(l.shared + d.shared_reserved, d.shared_unit),
           d.registers / 4 / rounded(l.registers * 32, d.register_unit) * 4 / warps};
  e.blocks = *std::min_element(e.fit.begin(), e.fit.end());
  e.warps = e.blocks * warps;
  const Counted& c = e.counted;
  e.latency = d.l1_latency + c.first_sectors / c.load_sectors * d.l2_latency +
              std::min(1.0, c.memory_bytes / (32 * c.load_sectors)) * d.memory_latency;
  e.roofs = {(c.l1_bytes() + 128 * c.shared_wavefronts) / (d.sms * d.l1_bytes_per_cycle * d.clock),
             c.l2_bytes() / d.l2_bandwidth, c.memory_bytes / d.memory_bandwidth,
             c.loads_of_thread * e.latency * std::max(1.0, static_cast<double>(l.blocks) / (d.sms * e.blocks))};
  return e;
}

Launch drawn(Draw& draw, Kernel kernel) {
  constexpr int kRegisters[] = {24, 32, 40, 48, 56, 63, 72, 80, 96, 110, 128};
  Launch l{kernel, draw.integer(1000, 2600), 32 * draw.integer(1, 8), draw.of(kRegisters), 0, 0};
  if (draw.integer(0, 1) == 0) l.shared = draw.integer(2000, 60000);
  switch (kernel) {
    case Kernel::strided:
      l.a = draw.integer(1, 12);
      break;
    case Kernel::row_sum:
      l.a = draw.integer(8, 40);
      break;
    case Kernel::transpose:
      l.threads = 256, l.a = draw.integer(0, 8), l.shared = 32 * (32 + l.a) * 4;
      break;
    case Kernel::halo:
      l.a = draw.integer(1, 8);
      break;
    case Kernel::wide:
      l.a = draw.integer(1, 4);
      break;
    case Kernel::table:
      l.a = 32 * draw.integer(1, 32);
      break;
  }
  return l;
}

std::string text_of(const Launch& l) {
  return fmt::format("{} ({} blocks x {} threads, {} registers, {} bytes of shared memory, a = {})",
                     kNames[static_cast<int>(l.kernel)], l.blocks, l.threads, l.registers, l.shared, l.a);
}

bool near(double got, double expected, double tolerance) {
  return std::fabs(got - expected) <= tolerance * std::fabs(expected);
}

class Predict : public TaskCheck {
 public:
  std::string id() const override { return "predict"; }

  // Sizes: launches. Of six, the first are those of the lesson.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (const std::int64_t count : {6, 12, 24}) all.push_back({fmt::format("{} launches", count), {count}});
    if (r.mode == Mode::grade) all.push_back({"36 launches", {36}});
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{n * sizeof(Launch)}, {n * sizeof(Prediction)}, 0, Place::pinned, Place::device};
  }
  bool host_reads_inputs() const override { return true; }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto launches = as<Launch>(in[0]);
    std::vector<Launch> all;
    Draw draw(seed);
    for (std::size_t k = 0; k < launches.size(); ++k) {
      const auto kernel = static_cast<Kernel>(k % 6);
      all.push_back(c.size[0] == 6 ? of_lesson(kernel) : drawn(draw, kernel));
    }
    if (c.size[0] != 6) draw.shuffle(all);
    std::copy(all.begin(), all.end(), launches.begin());
  }

  // A row that nobody filled, or that cannot be. What is in the rows are goals.
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto launches = as<const Launch>(in[0]);
    const auto table = as<Prediction>(out[0]);
    for (std::size_t k = 0; k < table.size(); ++k) {
      const Prediction& p = table[k];
      std::string wrong;
      for (const double v :
           {p.load_sectors, p.store_sectors, p.shared_wavefronts, p.l1_bytes, p.l2_bytes, p.memory_bytes, p.seconds})
        if (!(v >= 0 && v < 1e15)) wrong = fmt::format("a column holds {}", v);
      if (p.warps < 1 || p.warps > 64) wrong = fmt::format("{} resident warps, and an SM holds 1 to 64", p.warps);
      for (const int e : {static_cast<int>(p.limit), static_cast<int>(p.roof)})
        if (e < 0 || e > 3) wrong = fmt::format("{} is no value of Limit or Roof", e);
      if (!wrong.empty())
        return {false, fmt::format("table[{}], {}: {}: is the row filled?", k, text_of(launches[k]), wrong),
                "a row is not filled, or holds what cannot be"};
    }
    return {};
  }

  std::vector<Mark> marks(const Case&, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const auto launches = as<const Launch>(in[0]);
    const auto table = as<Prediction>(out[0]);
    Entries sectors("sectors", "entries"), wavefronts("wavefronts", "entries"), occupancy("occupancy", "entries"),
        bytes("bytes", "entries"), roof("roof", "entries");
    for (std::size_t k = 0; k < table.size(); ++k) {
      const Launch& l = launches[k];
      const Prediction& p = table[k];
      const Expected e = expect(l, {});
      const Counted& c = e.counted;
      const double warps = l.blocks * (l.threads / 32.0);
      auto entry = [&](Entries& of, const char* column, double got, double expected, const std::string& why,
                       double tolerance = 1e-6) {
        of.add(
            near(got, expected, tolerance),
            fmt::format("table[{}].{} is {:.10g}, and {} has {:.10g}: {}", k, column, got, text_of(l), expected, why),
            fmt::format("`{}` of a launch of {} is too {}", column, kNames[static_cast<int>(l.kernel)],
                        got < expected ? "low" : "high"));
      };
      entry(sectors, "load_sectors", p.load_sectors, c.load_sectors,
            fmt::format("{:.0f} warps x {} loads x {:.2f} sectors a request", warps, c.loads_of_thread,
                        c.load_sectors / warps / c.loads_of_thread));
      entry(sectors, "store_sectors", p.store_sectors, c.store_sectors,
            fmt::format("{:.0f} warps x {:.0f} sectors, each word stored once", warps, c.store_sectors / warps));
      if (l.kernel == Kernel::transpose || p.shared_wavefronts != 0)
        entry(wavefronts, "shared_wavefronts", p.shared_wavefronts, c.shared_wavefronts,
              l.kernel != Kernel::transpose
                  ? "it uses no shared memory"
                  : fmt::format("{} blocks x (32 rows stored in 1 wavefront each + 32 columns read in {} each: lanes "
                                "are {} words apart, and {} of them share a bank)",
                                l.blocks, std::gcd(l.a, 32), 32 + l.a, std::gcd(l.a, 32)));
      const std::string fit = fmt::format("warps {}, blocks {}, shared memory {}, registers {} blocks", e.fit[0],
                                          e.fit[1], e.fit[2], e.fit[3]);
      entry(occupancy, "warps", p.warps, e.warps,
            fmt::format("{}: the fewest, {}, x {} warps", fit, e.blocks, l.threads / 32));
      occupancy.add(e.limited_by(p.limit),
                    fmt::format("table[{}].limit is {}, and {} is limited otherwise: {}", k,
                                kLimits[static_cast<int>(p.limit)], text_of(l), fit),
                    fmt::format("`limit` of a launch of {} is another one", kNames[static_cast<int>(l.kernel)]));
      entry(bytes, "l1_bytes", p.l1_bytes, c.l1_bytes(),
            fmt::format("32 x ({:.0f} sectors loaded + {:.0f} stored)", c.load_sectors, c.store_sectors));
      entry(bytes, "l2_bytes", p.l2_bytes, c.l2_bytes(),
            fmt::format("32 x ({:.0f} sectors that a block loads for the first time + {:.0f} stored)", c.first_sectors,
                        c.store_sectors));
      entry(bytes, "memory_bytes", p.memory_bytes, c.memory_bytes,
            fmt::format("64 x {:.0f} pieces of 64 bytes, each read once", c.memory_bytes / 64));
      const std::string roofs = fmt::format("l1 {:.3g}, l2 {:.3g}, memory {:.3g}, latency {:.3g} us", 1e6 * e.roofs[0],
                                            1e6 * e.roofs[1], 1e6 * e.roofs[2], 1e6 * e.roofs[3]);
      roof.add(e.binds(p.roof),
               fmt::format("table[{}].roof is {}, and {} has the roofs {}", k, kRoofs[static_cast<int>(p.roof)],
                           text_of(l), roofs),
               fmt::format("`roof` of a launch of {} is another one", kNames[static_cast<int>(l.kernel)]));
      entry(roof, "seconds", p.seconds, e.roofs[e.highest()],
            fmt::format("roofs {}; a load takes {:.4g} ns", roofs, 1e9 * e.latency), 0.02);
    }
    return {sectors.mark(), wavefronts.mark(), occupancy.mark(), bytes.mark(), roof.mark()};
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "launch", 0, 0}; }

 private:
  // The lesson's table, and experiments/six.cu.
  static Launch of_lesson(Kernel kernel) {
    constexpr int kA[] = {6, 16, 0, 2, 2, 128};
    Launch l{kernel, 1320, 256, 32, 0, kA[static_cast<int>(kernel)]};
    if (kernel == Kernel::transpose) l.shared = 4096;
    return l;
  }
};

}  // namespace

std::unique_ptr<TaskCheck> predict() { return std::make_unique<Predict>(); }

}  // namespace ridge::lab::profiling
