// Task `autotune`: searches for shapes that are drawn from the seed. The judge answers the measurements, and counts them.
// On the emulator the device is drawn, too, and has its times recorded; on a GPU the judge runs the products of gemm.hpp.
#include <map>
#include <mutex>
#include <numeric>

#include "checks/stopwatch.hpp"
#include "common.hpp"
#include "gemm_times.hpp"

namespace ridge::lab::profiling {

namespace {

constexpr int kTurns = 7;        // in which all configurations are timed, before the search
constexpr int kAnswerTurns = 3;  // whose median answers a measurement

double middle(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The call that the course's program answers: a product. Sizes: m, n, k, configuration.
class Product : public TaskCheck {
 public:
  std::string id() const override { return "product"; }
  std::vector<Case> cases(const Request&) const override { return {}; }
  lab::Shape shape(const Case& c) const override {
    const auto of = [&c](int i, int k) { return static_cast<std::size_t>(c.size[i] * c.size[k]) * sizeof(float); };
    return {{of(0, 2), of(2, 1)}, {of(0, 1)}, 0};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    for (std::size_t i = 0; i < in.size(); ++i) fill_uniform(floats(in[i]), seed + i, -1, 1);
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers) const override { return {}; }
  Work work(const Case&) const override { return {}; }
};

// Sizes: m, n, k. On the emulator the device is drawn from the case's secret.
class Autotune : public TaskCheck, public AnswersByTimes {
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

  std::string why_not_on(const std::string& compute) const override {
    if (compute.starts_with("9.") || compute.starts_with("10.")) return {};
    return "needs a GPU with 227 KiB of shared memory a block, compute capability 9.0 or 10.0";
  }
  void time_before(const Case& c, Stopwatch& stopwatch) const override {
    std::vector<Case> all;
    for (int i = 0; i < kConfigs; ++i)
      if (cannot_run(i).empty()) all.push_back(product_of(c, i));
    std::vector<std::vector<double>> times = stopwatch.times(product_, all, kTurns);
    std::lock_guard lock(mutex_);
    auto& seconds = measured_[c.size];
    for (std::size_t i = 0; i < all.size(); ++i) seconds[static_cast<int>(all[i].size[3])] = std::move(times[i]);
  }
  Answer timed_answer(const Case& c, std::span<const Question> asked, Stopwatch& stopwatch) const override {
    const std::int64_t config = asked.back().value[0];
    if (!cannot_run(config).empty()) return {{-1}};
    const Case product = product_of(c, static_cast<int>(config));
    return {{middle(stopwatch.times(product_, std::span(&product, 1), kAnswerTurns).front())}};
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
    std::lock_guard lock(mutex_);
    if (const auto found = measured_.find(c.size); found != measured_.end())
      return {of_measured(found->second, chosen, asked)};
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
  using Seconds = std::map<int, std::vector<double>>;  // of each configuration that can run, turn by turn

  static Case product_of(Case c, int config) {
    c.size[3] = config;
    return c;
  }
  // Of a search on a GPU: the chosen configuration's time over that of the fastest, in each turn, and the median of it.
  static Mark of_measured(const Seconds& all, int chosen, std::span<const Question> asked) {
    const auto quicker = [](const auto& a, const auto& b) { return middle(a.second) < middle(b.second); };
    const auto& [fastest, least] = *std::min_element(all.begin(), all.end(), quicker);
    std::vector<double> ratios = all.at(chosen);
    for (std::size_t turn = 0; turn < ratios.size(); ++turn) ratios[turn] /= least[turn];
    std::sort(ratios.begin(), ratios.end());
    const double ratio = ratios[ratios.size() / 2];
    std::string why = fmt::format(
        "configuration {} ({}) takes {:.3f} x the time of the fastest, {} ({}), in {} turns from {:.3f} to {:.3f}, after "
        "{} measurements",
        chosen, text_of(config_of(chosen)), ratio, fastest, text_of(config_of(fastest)), ratios.size(), ratios.front(),
        ratios.back(), asked.size());
    if (std::none_of(asked.begin(), asked.end(), [&](const Question& q) { return q.value[0] == chosen; }))
      why += "; it was not measured itself";
    return {"time", ratio, "x the fastest", why, "the chosen configuration is not near the fastest"};
  }
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

  Product product_;
  mutable std::mutex mutex_;
  mutable std::map<std::array<std::int64_t, 8>, Seconds> measured_;  // by the shape, on a GPU
};

}  // namespace

std::unique_ptr<TaskCheck> autotune() { return std::make_unique<Autotune>(); }

}  // namespace ridge::lab::profiling
