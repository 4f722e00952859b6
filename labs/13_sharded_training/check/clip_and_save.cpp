// The norm over shards, and files that another number of ranks loads.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "common.hpp"

namespace ridge::lab::sharded_training {

namespace {

class ClipAndSave : public TaskCheck {
 public:
  std::string id() const override { return "clip_and_save"; }
  // Sizes: n, q, and max_norm in thousandths of about sqrt(n); 0: all gradients are 0.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](int p, std::int64_t n, std::int64_t q, std::int64_t limit) {
      Case c;
      c.ranks = p;
      c.size = {n, q, limit};
      c.name = fmt::format("{} rank{}, n {}, files of {}, {}", p, p == 1 ? "" : "s", n, q,
                           limit == 0     ? "gradients of 0"
                           : limit < 1000 ? "clipped"
                                          : "not clipped");
      all.push_back(c);
    };
    for (const int p : r.ranks) {
      add(p, 1003, p == 2 ? 3 : 2, 300), add(p, 2049, p == 4 ? 7 : 4, 2000), add(p, 96, 1, 0);
      if (p >= 4) add(p, 9, 4, 300);  // the last ranks, and the last file, have no element
      if (r.mode == Mode::grade)
        add(p, random_size(r.seed, 3000, 9000), random_size(r.seed + 1, 2, 9), random_size(r.seed + 2, 100, 800));
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    const std::size_t part = part_of(n, c.ranks), own = count_of(n, c.ranks, c.rank);
    // No buffer is empty: the file of a rank without elements is one float, which nobody reads.
    return {{4 * part, 12 * part, 12 * n}, {4 * part, 4, std::max<std::size_t>(12 * own, 4), 12 * part}, 4096};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    const std::size_t part = part_of(n, c.ranks), own = count_of(n, c.ranks, c.rank);
    fill_normal(floats(in[0]), seed);
    // A rank's gradients are larger the higher it is: no rank's own norm is a good guess of the whole one.
    scale_and_shift(floats(in[0]), c.size[2] == 0 ? 0.0f : 0.5f + 0.25f * static_cast<float>(c.rank), 0);
    fill_normal(floats(in[1]), seed + 1);
    fill_normal(floats(in[2]), c.shared_seed);
    for (std::size_t j = own; j < part; ++j) {
      floats(in[0])[j] = 1e6f + static_cast<float>(j);
      for (std::size_t k = 0; k < 3; ++k) floats(in[1])[k * part + j] = -7e8f;
    }
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {2 * n, "flop", 28 * n, 28 * n};
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    const auto p = static_cast<std::size_t>(c.ranks);
    const std::size_t part = part_of(n, c.ranks);
    std::vector<double> squares(p, 0);
    double all = 0, padded = 0;
    for (std::size_t r = 0; r < p; ++r)
      for (std::size_t j = 0; j < part; ++j) {
        const double g = floats(in[3 * r])[j];
        if (j < count_of(n, c.ranks, static_cast<int>(r))) squares[r] += g * g, all += g * g;
        padded += g * g;
      }
    const double norm = std::sqrt(all), limit = limit_of(c), u = kFp32.unit();
    const double factor = norm > limit ? limit / norm : 1, spread = u * (4 + std::sqrt(static_cast<double>(n)) / 2);
    for (std::size_t r = 0; r < p; ++r) {
      const double got = floats(out[4 * r + 1])[0];
      if (!(std::fabs(got - norm) <= 16 * spread * norm)) {
        auto is = [&](double x) { return std::fabs(got - x) <= 1e-4 * x; };
        return {false, fmt::format("rank {}, norm: expected {:.9g}, got {:.9g}{}", r, norm, got,
                                   p > 1 && is(std::sqrt(squares[r])) ? ": the norm of this rank's own part"
                                   : is(std::sqrt(padded))            ? ": padding is in the sum"
                                   : is(all)                          ? ": the sum of the squares, without a root"
                                                                      : "")};
      }
      if (std::memcmp(out[1].data(), out[4 * r + 1].data(), 4) != 0)
        return {false, fmt::format("the norm of rank {} is not, bit for bit, that of rank 0", r),
                "ranks have different answers", "agree"};
      const auto before = floats(in[3 * r]), after = floats(out[4 * r]);
      const std::size_t own = count_of(n, c.ranks, static_cast<int>(r));
      Verdict v = compare_with(
          after.first(own),
          [&](std::size_t j) {
            const double x = before[j] * factor, d = (factor < 1 ? spread : 0) * std::fabs(x) + 1.2e-38;
            return Expected{x, d, 16 * d, std::fabs(x)};
          },
          [r](std::size_t j) { return fmt::format("rank {}, gradients[{}]", r, j); },
          {{"as they came: nothing scaled them", [&](std::size_t j) { return before[j]; }},
           {"scaled by this rank's own norm",
            [&](std::size_t j) { return before[j] * limit / std::sqrt(squares[r]); }}});
      if (!v.ok) return v;
      if (std::memcmp(&before[0] + own, &after[0] + own, (part - own) * 4) != 0)
        return {false, fmt::format("rank {}: the padding of gradients, from element {} on, was changed", r, own)};
      v = files(c, in, out, r);
      if (!v.ok) return v;
    }
    return {};
  }
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    std::uint64_t bytes = 0;
    for (const Message& m : messages) bytes += m.bytes;
    const std::uint64_t most = 2 * static_cast<std::uint64_t>(c.ranks - 1) * 8 * static_cast<std::uint64_t>(c.ranks);
    if (bytes <= most) return {};
    return {
        false,
        fmt::format("all ranks together send {} bytes, and an all-reduce of one number takes {} at most", bytes, most),
        {},
        "traffic"};
  }

 private:
  static std::size_t part_of(std::size_t n, int p) {
    return (n + static_cast<std::size_t>(p) - 1) / static_cast<std::size_t>(p);
  }
  static std::size_t count_of(std::size_t n, int p, int r) {
    const std::size_t first = part_of(n, p) * static_cast<std::size_t>(r);
    return first >= n ? 0 : std::min(part_of(n, p), n - first);
  }
  // As in entry.cu.
  static double limit_of(const Case& c) {
    if (c.size[2] == 0) return 1;
    return static_cast<float>(static_cast<double>(c.size[2]) * 1e-3 * std::sqrt(static_cast<double>(c.size[0])));
  }
  static Verdict files(const Case& c, ConstBuffers in, ConstBuffers out, std::size_t r) {
    const auto n = static_cast<std::size_t>(c.size[0]);
    const int q = static_cast<int>(c.size[1]);
    const std::size_t part = part_of(n, c.ranks), own = count_of(n, c.ranks, static_cast<int>(r));
    constexpr const char* kNames[] = {"weights", "m", "v"};
    const auto state = floats(in[3 * r + 1]), saved = floats(in[3 * r + 2]);
    Verdict v = compare_exact<float>(
        floats(out[4 * r + 2]).first(3 * own), [&](std::size_t i) { return state[i / own * part + i % own]; },
        [&](std::size_t i) { return fmt::format("rank {}, file[{}], {}[{}]", r, i, kNames[i / own], i % own); });
    if (!v.ok) return v;
    return compare_exact<float>(
        floats(out[4 * r + 3]),
        [&](std::size_t i) {
          const std::size_t element = r * part + i % part;
          if (i % part >= own) return 0.0f;
          const std::size_t file = element / part_of(n, q), count = count_of(n, q, static_cast<int>(file));
          return saved[3 * file * part_of(n, q) + i / part * count + element % part_of(n, q)];
        },
        [&](std::size_t i) {
          return fmt::format("rank {}, load_state from {} files, {}[{}]{}", r, q, kNames[i / part], i % part,
                             i % part >= own ? ", padding" : "");
        });
  }
};

}  // namespace

std::unique_ptr<TaskCheck> clip_and_save() { return std::make_unique<ClipAndSave>(); }

}  // namespace ridge::lab::sharded_training
