// cg: conjugate gradients, held against the same iteration in double precision.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ceilings/profile.hpp"
#include "checks/memo.hpp"
#include "matrices.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

using Values = std::vector<double>;

// The iteration in double precision: the squares of the residuals' norms, from that of b on, and x after each iteration
// in question.
struct Solved {
  Values rho;
  std::vector<Values> x;  // the last ones, up to that of `rho.back()`
};

class Solver {
 public:
  Solver(ConstBuffers in)
      : starts_(as<std::int32_t>(in[1])),
        columns_(as<std::int32_t>(in[2])),
        values_(floats(in[0])),
        b_(floats(in[3])) {}

  // Until `most` iterations, or two beyond the first whose residual is below the tolerance.
  Solved solve(double tolerance, std::size_t most) const {
    const std::size_t n = b_.size();
    Values x(n), r(b_.begin(), b_.end()), p = r, q(n);
    Solved s;
    s.rho.push_back(dot(r, r)), s.x.push_back(x);
    const double goal = tolerance * tolerance * s.rho[0];
    std::size_t beyond = s.rho[0] <= goal ? 1 : 0;
    while (s.rho.size() <= most && beyond <= 2 && s.rho.back() > 0) {
      multiply(p, q);
      const double alpha = s.rho.back() / dot(p, q);
      each([&](std::size_t i) { x[i] += alpha * p[i], r[i] -= alpha * q[i]; });
      const double now = dot(r, r), beta = now / s.rho.back();
      each([&](std::size_t i) { p[i] = r[i] + beta * p[i]; });
      s.rho.push_back(now), s.x.push_back(x);
      if (s.x.size() > 5) s.x.erase(s.x.begin());
      if (now <= goal) ++beyond;
    }
    return s;
  }

 private:
  template <class Body>
  void each(Body body) const {
    parallel_for(b_.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) body(i);
    });
  }
  static double dot(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  void multiply(const Values& p, Values& q) const {
    parallel_for(
        q.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t r = from; r < to; ++r) {
            double sum = 0;
            for (auto k = static_cast<std::size_t>(starts_[r]); k < static_cast<std::size_t>(starts_[r + 1]); ++k)
              sum += values_[k] * p[static_cast<std::size_t>(columns_[k])];
            q[r] = sum;
          }
        },
        1 << 13);
  }
  std::span<const std::int32_t> starts_, columns_;
  std::span<const float> values_, b_;
};

// Sizes: those of a pattern, then 1 / tolerance, most, and whether b is 0.
class Cg : public TaskCheck {
 public:
  std::string id() const override { return "cg"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, const Pattern& p, std::int64_t over, std::int64_t most, bool zero = false,
                   bool measured = false) {
      Case c{fmt::format("{}, {} rows", name, p.rows), sizes_of(p), measured};
      c.size[4] = over, c.size[5] = most, c.size[6] = zero ? 1 : 0;
      c.name += over == 0 ? fmt::format(", {} iterations", most) : fmt::format(", tolerance 1/{}", over);
      all.push_back(c);
    };
    const std::int64_t some = r.mode == Mode::grade ? random_size(r.seed, 600, 1400) : 1003;
    add("one unknown", {Kind::chain, 0, 1}, 1000, 5);
    add("b = 0", {Kind::chain, 0, 333}, 1000, 20, true);
    add("a chain", {Kind::chain, 0, static_cast<std::size_t>(some)}, 10000, 100);
    add("27 points", {Kind::cube, 9, 729}, 20000, 100);
    add("27 points", {Kind::cube, 8, 512}, 100000, 4);
    std::int64_t side = r.mode == Mode::check ? 12 : 16, most = 8;
    if (r.backend == Backend::cuda) {
      side = r.mode == Mode::check ? 96 : 128, most = 20;
      while (side > 16 && static_cast<double>(side * side * side) * 240 > static_cast<double>(r.memory)) side /= 2;
    }
    add("27 points", {Kind::cube, side, static_cast<std::size_t>(side * side * side)}, 0, most, false, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto rows = static_cast<std::size_t>(c.size[0]), entries = static_cast<std::size_t>(c.size[1]);
    return {{entries * 4, (rows + 1) * 4, entries * 4, rows * 4}, {rows * 4, 4}, 256 * 1024 + rows * 12 + 1024};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Pattern p = pattern_of(c);
    const std::vector<std::int32_t> starts = starts_of(p);
    std::memcpy(in[1].data(), starts.data(), in[1].size());
    fill_columns(p, starts, as<std::int32_t>(in[2]), random_bits(seed, 0));
    fill_symmetric(starts, as<std::int32_t>(in[2]), floats(in[0]), p.kind == Kind::cube ? 2 : 0.3,
                   random_bits(seed, 1));
    fill_normal(floats(in[3]), random_bits(seed, 2));
    if (c.size[6] != 0) std::memset(in[3].data(), 0, in[3].size());
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const double tolerance = c.size[4] == 0 ? 0 : 1 / static_cast<double>(c.size[4]);
    const auto most = static_cast<std::size_t>(c.size[5]);
    const auto solved = memo_.get(c, in, [&] { return Solver(in).solve(tolerance, most); });
    const std::int64_t k = as<std::int32_t>(out[1])[0];
    if (Verdict v = counted(*solved, tolerance, most, k); !v.ok) return v;
    const Values& x = solved->x[solved->x.size() - (solved->rho.size() - static_cast<std::size_t>(k))];
    double largest = 0;
    for (double v : x) largest = std::max(largest, std::fabs(v));
    return compare_close<float>(
        floats(out[0]),
        [&](std::size_t i) {
          const double worst = 2e-4 * largest + 1e-30;
          return Expected{x[i], worst / 4, worst, largest};
        },
        [](std::size_t i) { return fmt::format("x[{}]", i); });
  }
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), entries = static_cast<double>(c.size[1]),
               iterations = static_cast<double>(c.size[5]);
    return {iterations * (2 * entries + 10 * rows), "flop", iterations * (8 * entries + 32 * rows),
            iterations * 16 * rows};
  }
  // An iteration loads values and columns, starts, p of each entry (12 sectors for 32 neighbours), p again for p.q, then x,
  // p, r, q, and r and p; it stores q, x, r, p. Launches: a graph for each iteration, and two more.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), entries = static_cast<double>(c.size[1]),
               most = static_cast<double>(c.size[5]);
    const auto& d = ridge::default_profile().device;
    const double bytes = 8 * entries + 4 * rows * 12;
    return {
        {"launches_over_bound", most + 2},
        {"load_sectors_over_bound", most * ((8 * entries + 4 * rows * 8) / 32 + entries / 32 * 12)},
        {"store_sectors_over_bound", most * 4 * rows / 8},
        {"virtual_time_over_bound", d.at("launch_call") + d.at("kernel_latency") +
                                        most * (bytes / (d.at("dram_bandwidth") * d.at("dram_efficiency")) +
                                                3 * (d.at("l1_latency") + d.at("l2_latency") + d.at("dram_latency")))}};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  // Is k the number of iterations after which the residual is small enough for the first time? Near the tolerance
  // rounding may decide.
  static Verdict counted(const Solved& s, double tolerance, std::size_t most, std::int64_t k) {
    const double goal = tolerance * tolerance * s.rho[0];
    auto fails = [](std::string text) {
      return Verdict{false, text, "the number of iterations is not that of the contract"};
    };
    if (k < 0 || static_cast<std::size_t>(k) > most)
      return fails(fmt::format("iterations is {}, and the most is {}", k, most));
    const auto at = static_cast<std::size_t>(k);
    if (at >= s.rho.size() || (at > 0 && tolerance > 0 && s.rho[at - 1] <= 0.9 * goal) || (at > 0 && s.rho[0] == 0)) {
      std::size_t first = 0;
      while (first + 1 < s.rho.size() && s.rho[first] > goal) ++first;
      return fails(fmt::format("{} iterations: the residual was small enough after {} already", k, first));
    }
    if (at < most && s.rho[at] > 1.1 * goal)
      return fails(fmt::format("{} iterations: the residual is {:.3g} of b's norm then, and the tolerance is {:.3g}", k,
                               std::sqrt(s.rho[at] / s.rho[0]), tolerance));
    return {};
  }
  mutable Memo<Solved> memo_{4};
};

}  // namespace

std::unique_ptr<TaskCheck> cg() { return std::make_unique<Cg>(); }

}  // namespace ridge::lab::science
