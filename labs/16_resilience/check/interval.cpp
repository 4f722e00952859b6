// Task `interval`: Daly's model in long double.
#include <fmt/format.h>

#include <cmath>

#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

namespace {

using Real = long double;

struct Job {
  Real gpus, gpu_hours, step, save, restart, steps;
  Real M() const { return gpu_hours * 3600 / gpus; }
  Real expected(Real n) const { return M() * std::exp(restart / M()) * std::expm1((n * step + save) / M()); }
  Real goodput(Real n) const { return n * step / expected(n); }
  Real young() const { return std::sqrt(2 * save * M()); }
  Real daly() const {
    if (save >= 2 * M()) return M();
    const Real x = std::sqrt(save / (2 * M()));
    return young() * (1 + x / 3 + x * x / 9) - save;
  }
};

constexpr std::int64_t kNumbers = 6;

class Interval : public TaskCheck {
 public:
  std::string id() const override { return "interval"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t i = 0; i < 2; ++i) {
      Case c{i == 0 ? "16,384 GPUs, 8 GPUs, a run that hardly moves, and steps of 0.1 ms" : "24 random runs"};
      c.size = {i == 0 ? 7 : 24, i};
      c.secret = one_way_seed(r.seed, "interval", static_cast<std::uint64_t>(i));
      all.push_back(c);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[0] * kNumbers) * 8;
    return {{bytes}, {bytes}, 0, Place::pageable, Place::device};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    const auto to = as<double>(in[0]);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = value(c, i);
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case&) const override { return 1 << 16; }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "run", 0, 0}; }
  Verdict verify(const Case& c, ConstBuffers, ConstBuffers out) const override {
    const auto got = as<double>(out[0]);
    constexpr const char* kNames[] = {"mean_between_failures", "expected_seconds", "goodput", "young", "daly"};
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.size[0]); ++i) {
      const auto v = [&](std::size_t k) { return static_cast<Real>(value(c, kNumbers * i + k)); };
      const Job job{v(0), v(1), v(2), v(3), v(4), v(5)};
      const Real right[] = {job.M(), job.expected(job.steps), job.goodput(job.steps), job.young(), job.daly()};
      const double* mine = got.data() + kNumbers * i;
      const std::string run =
          fmt::format("{:.0f} GPUs of {:.0f} h each, a step of {:.3g} s, a save of {:.3g} s, a restart of {:.3g} s",
                      static_cast<double>(job.gpus), static_cast<double>(job.gpu_hours), static_cast<double>(job.step),
                      static_cast<double>(job.save), static_cast<double>(job.restart));
      for (std::size_t k = 0; k < 5; ++k)
        if (!(std::fabs(static_cast<Real>(mine[k]) - right[k]) <= 1e-9L * std::fabs(right[k])))
          return {false,
                  fmt::format("{}{}: {} is {:.9g}, expected {:.9g}{}", run,
                              k == 1 || k == 2 ? fmt::format(", {:.0f} steps", static_cast<double>(job.steps)) : "",
                              kNames[k], mine[k], static_cast<double>(right[k]), hint(job, k, mine[k])),
                  fmt::format("{} is wrong", kNames[k])};
      // Near the maximum the goodput is flat: neighbours that rounding cannot tell apart are as good.
      // Two doubles differ by eps or more, and one step changes the goodput by eps at a distance of d from the maximum, in units
      // of it: d = eps n work / save. There it is less by save / work d^2.
      const Real n = mine[5], most = best_steps(job), best = job.goodput(most);
      const Real share = job.save / (most * job.step), d = 2.3e-16L * most / share;
      if (!(n >= 1 && n == std::floor(n)))
        return {false, fmt::format("{}: best_steps is {}", run, mine[5]), "best_steps is no number of steps"};
      if (job.goodput(n) < best * (1 - 1e-13L - 64 * share * d * d))
        return {false,
                fmt::format("{}: best_steps is {}, whose goodput is {:.9f}; {} steps have {:.9f}", run, mine[5],
                            static_cast<double>(job.goodput(n)), static_cast<double>(most), static_cast<double>(best)),
                "best_steps is not the best number of steps"};
    }
    return {};
  }

 private:
  static double value(const Case& c, std::size_t i) {
    // Llama 3 405B: 419 failures of 16,384 GPUs in 54 days are one for each 50,700 hours of a GPU.
    static constexpr double kKnown[7][kNumbers] = {
        {16384, 50700, 6, 60, 900, 100}, {16384, 50700, 6, 3, 900, 50}, {8, 50700, 0.25, 30, 120, 20000},
        {16384, 5000, 20, 700, 400, 30}, {1, 0.05, 40, 500, 60, 1},     {64, 100000, 1e-3, 0.004, 20, 9000},
        {1, 1e6, 1e-4, 60, 60, 5e8}};  // 6.6e9 steps: a search through all of them does not end
    const std::size_t run = i / kNumbers, k = i % kNumbers;
    if (c.size[1] == 0) return kKnown[run][k];
    const double u = static_cast<double>(random_bits(c.secret, i) >> 11) * 0x1p-53;
    switch (k) {
      case 0:
        return std::floor(std::exp(u * std::log(32768.0))) + 1;
      case 1:
        return std::floor(5000 + 95000 * u);
      case 2:
        return 0.01 + 20 * u * u;
      case 3:
        return 0.5 + 300 * u * u;
      case 4:
        return 10 + 1500 * u;
      default:
        return std::floor(1 + 500 * u);
    }
  }
  static Real best_steps(const Job& job) {
    Real low = 1, high = 2;
    while (job.goodput(high + 1) > job.goodput(high)) low = high, high *= 2;
    while (low < high) {
      const Real middle = std::floor((low + high) / 2);
      if (job.goodput(middle + 1) > job.goodput(middle))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  static std::string hint(const Job& job, std::size_t k, double got) {
    const auto is = [&](Real x) { return std::fabs(static_cast<Real>(got) - x) <= 1e-9L * std::fabs(x); };
    const Real work = job.steps * job.step + job.save;
    if (k == 0 && is(job.gpu_hours * 3600)) return ": that is one GPU's, and a failure of any of them stops the run";
    if (k == 0 && is(job.gpu_hours / job.gpus)) return ": those are hours";
    if (k == 0 && is(job.gpu_hours * 3600 * job.gpus)) return ": more GPUs fail more often";
    if (k == 1 && is(job.M() * std::expm1(work / job.M()))) return ": that is without restarts";
    if (k == 1 && is(job.M() * std::exp(job.restart / job.M()) * std::expm1(job.steps * job.step / job.M())))
      return ": a failure may strike during the save, too";
    if (k == 1 && is(work)) return ": that is without failures";
    if (k == 3 && is(std::sqrt(job.save * job.M()))) return ": the 2 is missing";
    if (k == 4 && is(job.daly() + job.save)) return ": the save is no part of the interval";
    return "";
  }
};

}  // namespace

std::unique_ptr<TaskCheck> interval() { return std::make_unique<Interval>(); }

}  // namespace ridge::lab::resilience
