// halo: the heat equation on ranks_y x ranks_z ranks, held against the whole mesh in double precision.
#include <fmt/format.h>

#include <cmath>

#include "checks/compare.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

double weight(int dx, int dy, int dz) {  // as in halo.hpp
  const int differ = (dx != 0) + (dy != 0) + (dz != 0);
  return differ == 0 ? 0.3f : differ == 1 ? 0.06f : differ == 2 ? 0.02f : 0.0125f;
}

// Sizes: the members of Part.
class Halo : public TaskCheck {
 public:
  std::string id() const override { return "halo"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t x, std::int64_t y, std::int64_t z, int ranks_y, int ranks_z, std::int64_t steps,
                   bool measured = false) {
      Case c{fmt::format("{} x {} x {} points on {} x {} ranks, {} steps", x, y, z, ranks_y, ranks_z, steps),
             {x, y, z, ranks_y, ranks_z, steps},
             measured,
             ranks_y * ranks_z};
      all.push_back(c);
    };
    for (int p : r.ranks) {
      if (p == 1) add(13, 5, 4, 1, 1, 3);
      if (p == 2) add(11, 6, 3, 2, 1, 3), add(9, 3, 7, 1, 2, 2);
      if (p == 4) add(r.mode == Mode::grade ? random_size(r.seed, 10, 20) : 17, 7, 6, 2, 2, 4);
    }
    if (!r.ranks.empty() && r.ranks.back() >= 4)
      r.backend == Backend::cpu ? add(192, 40, 40, 2, 2, 2, true) : add(512, 384, 384, 2, 2, 10, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s = sizes(c);
    return {
        {s.points() * 4}, {s.points() * 4}, 8 * (s.x + 2) * (s.y + 2) * (s.z + 2) + 64 * s.x * (s.y + s.z + 4) + 4096};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_uniform(floats(in[0]), seed); }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Sizes s = sizes(c);
    const std::size_t ny = s.y * s.ranks_y, nz = s.z * s.ranks_z;
    // The whole mesh with a layer of zeros.
    const auto at = [&](std::size_t x, std::size_t y, std::size_t z) { return (z * (ny + 2) + y) * (s.x + 2) + x; };
    std::vector<double> u((s.x + 2) * (ny + 2) * (nz + 2)), next = u;
    const auto own = [&](std::size_t r, std::size_t i) {
      return at(i % s.x + 1, r % s.ranks_y * s.y + i / s.x % s.y + 1, r / s.ranks_y * s.z + i / s.x / s.y + 1);
    };
    const auto ranks = static_cast<std::size_t>(c.ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < s.points(); ++i) u[own(r, i)] = floats(in[r])[i];
    for (std::size_t step = 0; step < s.steps; ++step) {
      parallel_for(
          nz,
          [&](std::size_t from, std::size_t to) {
            for (std::size_t z = from + 1; z <= to; ++z)
              for (std::size_t y = 1; y <= ny; ++y)
                for (std::size_t x = 1; x <= s.x; ++x) {
                  double sum = 0;
                  for (int dz = -1; dz <= 1; ++dz)
                    for (int dy = -1; dy <= 1; ++dy)
                      for (int dx = -1; dx <= 1; ++dx)
                        sum +=
                            weight(dx, dy, dz) *
                            u[at(x, y, z) + static_cast<std::size_t>((dz * static_cast<std::ptrdiff_t>(ny + 2) + dy) *
                                                                         static_cast<std::ptrdiff_t>(s.x + 2) +
                                                                     dx)];
                  next[at(x, y, z)] = sum;
                }
          },
          1);
      std::swap(u, next);
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      Verdict v = compare_close<float>(
          floats(out[r]),
          [&](std::size_t i) { return within_ulps(u[own(r, i)], 1, 8 * std::sqrt(static_cast<double>(s.steps))); },
          [&](std::size_t i) {
            return fmt::format("rank {}, u[{}][{}][{}]", r, i / s.x / s.y, i / s.x % s.y, i % s.x);
          });
      if (!v.ok) return v;
    }
    return {};
  }
  // A face for each neighbour in each step, with or without the ghosts of the other direction; no rank to another one.
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override {
    const Sizes s = sizes(c);
    const auto ranks = static_cast<std::size_t>(c.ranks);
    std::vector<std::uint64_t> bytes(ranks * ranks), count(ranks * ranks);
    for (const Message& m : messages) {
      const std::size_t pair = static_cast<std::size_t>(m.from) * ranks + static_cast<std::size_t>(m.to);
      bytes[pair] += m.bytes, ++count[pair];
    }
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t to = 0; to < ranks; ++to) {
        const auto step_y =
            from % s.ranks_y > to % s.ranks_y ? from % s.ranks_y - to % s.ranks_y : to % s.ranks_y - from % s.ranks_y;
        const auto step_z =
            from / s.ranks_y > to / s.ranks_y ? from / s.ranks_y - to / s.ranks_y : to / s.ranks_y - from / s.ranks_y;
        const std::size_t across = step_y + step_z == 1 ? (step_y == 1 ? s.z : s.y) : 0;
        const std::uint64_t least = across == 0 ? 0 : 4 * s.steps * s.x * across,
                            most = across == 0 ? 0 : 4 * s.steps * s.x * (across + 2);
        const std::uint64_t got = bytes[from * ranks + to], sent = count[from * ranks + to];
        if (got < least || got > most || (across != 0 && sent != s.steps))
          return {false,
                  fmt::format("rank {} sends {} bytes in {} messages to rank {}, expected {} to {} bytes in {}", from,
                              got, sent, to, least, most, across == 0 ? 0 : s.steps),
                  "the messages are not one face for each neighbour in each step", "traffic"};
      }
    return {};
  }
  Work work(const Case& c) const override {
    const Sizes s = sizes(c);
    const auto points = static_cast<double>(s.points() * s.steps);
    return {54 * points, "flop", 4 * points, 4 * points};
  }
  // How long the kernels of the measured case take on the emulator, packing included: 35.8 us.
  std::vector<Bound> bounds(const Case&) const override { return {{"exposed_messages", 36e-6}}; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  struct Sizes {
    std::size_t x, y, z, ranks_y, ranks_z, steps;
    std::size_t points() const { return x * y * z; }
  };
  static Sizes sizes(const Case& c) {
    auto n = [&](std::size_t i) { return static_cast<std::size_t>(c.size[i]); };
    return {n(0), n(1), n(2), n(3), n(4), n(5)};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> halo() { return std::make_unique<Halo>(); }

}  // namespace ridge::lab::science
