// cg: conjugate gradients, held against the same iteration in double precision.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "ceilings/profile.hpp"
#include "checks/memo.hpp"
#include "checks/same_bits.hpp"
#include "iteration.hpp"
#include "matrices.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

// How far an answer may be from the exact one, in errors that two iterations in fp32 make. For 600 seeds of each case, a
// third order of summation and the arrangement of Chronopoulos and Gear stayed below a half of the last two, and 0.8 of the
// first, as a root of the mean square. Values of A with 18 significant bits do not.
constexpr double kDeviation = 4, kWorst = 50, kDrift = 64;
constexpr double kLeastError = 0x1p-26;  // over the largest |x|: where both happen to be exact

enum class Side : std::int64_t { normal, zero, large };  // b

// Sizes: those of a pattern, then 1 / tolerance, most, Side, and 1 / shift of the diagonal.
class Cg : public TaskCheck, public SameBits {
 public:
  std::string id() const override { return "cg"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, const Pattern& p, std::int64_t over, std::int64_t most, Side side = Side::normal,
                   bool measured = false) {
      Case c{fmt::format("{}, {} rows", name, p.rows), sizes_of(p), measured};
      c.size[4] = over, c.size[5] = most, c.size[6] = static_cast<std::int64_t>(side);
      c.size[7] = 3;
      c.name += over == 0 ? fmt::format(", {} iterations", most) : fmt::format(", tolerance 1/{}", over);
      all.push_back(c);
    };
    const auto some = static_cast<std::size_t>(r.mode == Mode::grade ? random_size(r.seed, 1200, 1500) : 1303);
    add("one unknown", {Kind::chain, 0, 1}, 1000, 5);
    add("twice the identity", {Kind::diagonal, 0, 77}, 0, 5);
    add("b = 0", {Kind::chain, 0, 333}, 1000, 20, Side::zero);
    add("a chain", {Kind::chain, 0, some}, 1000, 100);
    add("a chain, badly conditioned", {Kind::chain, 0, 301}, 10000, 300);
    all.back().size[7] = 8;
    add("27 points, b near 2^70", {Kind::cube, 9, 729}, 20000, 100, Side::large);
    add("27 points", {Kind::cube, 8, 512}, 100000, 4);
    std::int64_t side = r.mode == Mode::check ? 12 : 16, most = 8;
    if (r.backend == Backend::cuda) {
      side = r.mode == Mode::check ? 96 : 128, most = 20;
      while (side > 16 && static_cast<double>(side * side * side) * 240 > static_cast<double>(r.memory)) side /= 2;
    }
    add("27 points", {Kind::cube, side, static_cast<std::size_t>(side * side * side)}, 0, most, Side::normal, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto rows = static_cast<std::size_t>(c.size[0]), entries = static_cast<std::size_t>(c.size[1]);
    return {{entries * 4, (rows + 1) * 4, entries * 4, rows * 4},
            {rows * 4, 4, 8 * (static_cast<std::size_t>(c.size[5]) + 1)},
            256 * 1024 + rows * 32};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Layout a = layout_of(pattern_of(c), random_bits(seed, 0));
    std::memcpy(in[1].data(), a.starts.data(), in[1].size());
    fill_columns(a, as<std::int32_t>(in[2]));
    const double shift = a.pattern.kind != Kind::chain ? 2 : 1 / static_cast<double>(c.size[7]);
    fill_symmetric(a.starts, as<std::int32_t>(in[2]), floats(in[0]), shift, random_bits(seed, 1));
    const std::span<float> b = floats(in[3]);
    fill_normal(b, random_bits(seed, 2));
    // The squares of large numbers are beyond fp32, and not beyond double precision.
    if (side_of(c) != Side::normal)
      for (float& v : b) v *= side_of(c) == Side::zero ? 0.0f : 0x1p70f;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const double tolerance = c.size[4] == 0 ? 0 : 1 / static_cast<double>(c.size[4]);
    const auto most = static_cast<std::size_t>(c.size[5]);
    const auto solved = memo_.get(c, in, [&] { return solve(in, tolerance, most); });
    const Rounding rounding = rounding_in(c, in, *solved);
    const std::int64_t k = as<std::int32_t>(out[1])[0];
    if (Verdict v = counted(*solved, rounding, tolerance, most, k); !v.ok) return v;
    const auto at = static_cast<std::size_t>(k);
    if (Verdict v = compare_rho(*solved, rounding, as<double>(out[2]).first(at + 1)); !v.ok) return v;
    const std::vector<double>& x = solved->after(at);
    double largest = 0;
    for (double v : x) largest = std::max(largest, std::fabs(v));
    const double error = std::max(rounding.x, kLeastError) * largest + 1e-30;
    return compare_close<float>(
        floats(out[0]),
        [&](std::size_t i) {
          return Expected{x[i], kDeviation * error, kWorst * error, largest};
        },
        [](std::size_t i) { return fmt::format("x[{}]", i); });
  }
  // Those with the most blocks, in which sums have the most orders.
  bool repeats(const Case& c) const override { return c.measured || c.size[0] > 1000; }
  Verdict verify_again(const Case&, ConstBuffers, ConstBuffers first, ConstBuffers again) const override {
    const auto k = as<std::int32_t>(first[1])[0];
    if (as<std::int32_t>(again[1])[0] != k) return other_bits({false, "the number of iterations is another one"});
    const auto rho = as<double>(first[2]);
    const auto x = floats(first[0]);
    if (Verdict v = other_bits(compare_exact<double>(
            as<double>(again[2]).first(static_cast<std::size_t>(k) + 1), [&](std::size_t j) { return rho[j]; },
            [](std::size_t j) { return fmt::format("rho[{}]", j); }));
        !v.ok)
      return v;
    return other_bits(compare_exact<float>(
        floats(again[0]), [&](std::size_t i) { return x[i]; }, [](std::size_t i) { return fmt::format("x[{}]", i); }));
  }
  // The least that any program must move: A is symmetric, so that the values of one half suffice in each iteration; its
  // columns may be kept in a shorter form, and the vectors in registers and L2.
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), entries = static_cast<double>(c.size[1]),
               iterations = static_cast<double>(c.size[5]);
    return {iterations * (2 * entries + 10 * rows), "flop",
            iterations * 4 * (entries + rows) / 2 + 4 * (entries + rows) / 2 + 4 * rows, 4 * rows};
  }
  // An iteration loads values and columns, starts, the sectors of p that 32 neighbouring entries need, p again for p.q,
  // then x, p, r, q, and r and p; it stores q, x, r, p. Launches: a graph for each iteration, and two more.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), entries = static_cast<double>(c.size[1]),
               most = static_cast<double>(c.size[5]);
    const auto& d = ridge::default_profile().device;
    const double bytes = 8 * entries + 4 * rows * 12;
    const double gathered = c.measured ? gathered_sectors(pattern_of(c)) : 0;
    return {
        {"launches_over_bound", most + 2},
        {"load_sectors_over_bound", most * ((8 * entries + 4 * rows * 8) / 32 + gathered)},
        {"store_sectors_over_bound", most * 4 * rows / 8},
        {"virtual_time_over_bound", d.at("launch_call") + d.at("kernel_latency") +
                                        most * (bytes / (d.at("dram_bandwidth") * d.at("dram_efficiency")) +
                                                3 * (d.at("l1_latency") + d.at("l2_latency") + d.at("dram_latency")))}};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  static Side side_of(const Case& c) { return static_cast<Side>(c.size[6]); }

  // Of large matrices once for each size: another seed gives errors of the same size, and the iterations take long.
  Rounding rounding_in(const Case& c, ConstBuffers in, const Solved& solved) const {
    if (c.size[0] < 100'000) return rounding_of(in, solved);
    std::lock_guard lock(mutex_);
    const auto known = roundings_.find(c.size);
    return known != roundings_.end() ? known->second : roundings_[c.size] = rounding_of(in, solved);
  }
  static double allowed_drift(const Rounding& rounding, std::size_t k) {
    return kDrift * std::max(rounding.rho[std::min(k, rounding.rho.size() - 1)], 0x1p-23);
  }

  // Is k the number of iterations after which the residual is small enough for the first time? Within rounding of the
  // tolerance, one more or less is right, too.
  static Verdict counted(const Solved& s, const Rounding& rounding, double tolerance, std::size_t most,
                         std::int64_t k) {
    const double goal = tolerance * tolerance * s.rho[0];
    auto fails = [](std::string text) {
      return Verdict{false, text, "the number of iterations is not that of the contract"};
    };
    if (k < 0 || static_cast<std::size_t>(k) > most)
      return fails(fmt::format("iterations is {}, and the most is {}", k, most));
    const auto at = static_cast<std::size_t>(k);
    const bool too_many = at >= s.rho.size() || (at > 0 && s.rho[0] == 0) ||
                          (at > 0 && tolerance > 0 && s.rho[at - 1] <= (1 - allowed_drift(rounding, at - 1)) * goal);
    if (too_many) {
      std::size_t first = 0;
      while (first + 1 < s.rho.size() && s.rho[first] > goal) ++first;
      return fails(fmt::format("{} iterations: the residual was small enough after {} already", k, first));
    }
    if (at < most && s.rho[at] > (1 + allowed_drift(rounding, at)) * goal)
      return fails(fmt::format("{} iterations: the residual is {:.3g} of b's norm then, and the tolerance is {:.3g}", k,
                               std::sqrt(s.rho[at] / s.rho[0]), tolerance));
    return {};
  }
  static Verdict compare_rho(const Solved& s, const Rounding& rounding, std::span<const double> rho) {
    for (std::size_t j = 0; j < rho.size(); ++j) {
      // Of a residual that has all but vanished, errors of the first one are left.
      const double allowed = allowed_drift(rounding, j) * s.rho[j] + 0x1p-40 * s.rho[0];
      if (!(std::fabs(rho[j] - s.rho[j]) <= allowed))
        return {
            false,
            fmt::format("rho[{}] is {:.9g}, expected {:.9g} and at most {:.2g} from it", j, rho[j], s.rho[j], allowed),
            "rho is not r.r after each iteration"};
    }
    return {};
  }

  mutable Memo<Solved> memo_{4};
  mutable std::mutex mutex_;
  mutable std::map<std::array<std::int64_t, 8>, Rounding> roundings_;
};

}  // namespace

std::unique_ptr<TaskCheck> cg() { return std::make_unique<Cg>(); }

}  // namespace ridge::lab::science
