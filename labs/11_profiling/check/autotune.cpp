// Task `autotune`: searches on devices and shapes that are drawn from the seed. The judge answers the measurements, and counts
// them.
#include "common.hpp"
#include "gemm_times.hpp"

namespace ridge::lab::profiling {

namespace {

// Sizes: m, n, k. The device is drawn from the case's secret.
class Autotune : public TaskCheck {
 public:
  std::string id() const override { return "autotune"; }

  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    Draw draw(r.seed);
    const int searches = r.mode == Mode::check ? 4 : 8;
    for (int i = 0; i < searches; ++i) {
      // Square, flat, deep and small ones in turn.
      const int high[] = {4000, 600, 1200, 900};
      Case c;
      c.size = {draw.integer(300, high[i % 4]), draw.integer(300, i % 4 == 1 ? 4000 : high[i % 4]),
                draw.integer(300, i % 4 == 2 ? 4000 : high[i % 4])};
      c.name = fmt::format("search {}: {} x {} x {}", i + 1, c.size[0], c.size[1], c.size[2]);
      c.secret = random_bits(r.seed, 1000 + static_cast<std::uint64_t>(i));
      all.push_back(c);
    }
    return all;
  }
  lab::Shape shape(const Case&) const override { return {{}, {sizeof(std::int32_t)}, 0}; }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  bool host_reads_inputs() const override { return true; }

  std::size_t most_questions(const Case&) const override { return kMeasurements; }
  Answer answer(const Case& c, std::span<const Question> asked) const override {
    const std::int64_t config = asked.back().value[0];
    const bool known = config >= 0 && config < kConfigs;
    return {{known ? times(c).of(static_cast<int>(config)) : -1}};
  }
  Verdict verify_questions(const Case&, std::span<const Question> asked) const override {
    for (const Question& q : asked)
      if (const std::string why = cannot_run(q.value[0]); !why.empty())
        return {false, "a configuration was measured that cannot run: " + why,
                "a configuration was measured that cannot run", "questions"};
    return {};
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers out) const override {
    const std::string why = cannot_run(as<const std::int32_t>(out[0])[0]);
    if (why.empty()) return {};
    return {false, "a configuration was returned that cannot run: " + why, "what was returned cannot run"};
  }
  std::vector<Mark> marks(const Case& c, ConstBuffers, ConstBuffers out,
                          std::span<const Question> asked) const override {
    const int chosen = as<const std::int32_t>(out[0])[0];
    const GemmTimes all = times(c);
    const double ratio = all.of(chosen) / all.best();
    double least = INFINITY;
    bool measured = false;
    for (const Question& q : asked) {
      least = std::min(least, all.of(static_cast<int>(q.value[0])));
      measured = measured || q.value[0] == chosen;
    }
    std::string why = fmt::format("configuration {} ({}) takes {:.3f} x the time of the fastest, after {} measurements",
                                  chosen, text_of(config_of(chosen)), ratio, asked.size());
    if (all.of(chosen) > 1.000001 * least)
      why += fmt::format("; one that was measured is faster ({:.3f})", least / all.best());
    if (!measured) why += "; it was not measured itself";
    return {{"time", ratio, "x the fastest", why, "the chosen configuration is not near the fastest"}};
  }
  Work work(const Case& c) const override {
    return {2.0 * static_cast<double>(c.size[0] * c.size[1] * c.size[2]), "flop", 0, 0};
  }

 private:
  static GemmTimes times(const Case& c) {
    return {c.secret, {static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])}};
  }
  static std::string text_of(const Config& c) {
    return fmt::format("tile {} x {}, steps of {}, {} x {} a thread, {} stages", c.tile_m, c.tile_n, c.tile_k,
                       c.thread_m, c.thread_n, c.stages);
  }
  // Empty where it can.
  static std::string cannot_run(std::int64_t i) {
    if (i < 0 || i >= kConfigs) return fmt::format("{} is none of 0 to {}", i, kConfigs - 1);
    const Config c = config_of(static_cast<int>(i));
    if (resident_blocks(c) > 0) return {};
    return fmt::format(
        "number {} ({}): {} threads (32 to 1024), {} bytes of shared memory (232448 at most), {} "
        "registers (65536 at most)",
        i, text_of(c), threads_of(c), shared_of(c), threads_of(c) * registers_of(c));
  }
};

}  // namespace

std::unique_ptr<TaskCheck> autotune() { return std::make_unique<Autotune>(); }

}  // namespace ridge::lab::profiling
