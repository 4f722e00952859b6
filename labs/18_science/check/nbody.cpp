// nbody: all pairs against double precision, near pairs in whole numbers.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "checks/compare.hpp"
#include "checks/wide.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

using Atom = std::array<std::int32_t, 4>;

constexpr double kSoftening = 1e-3f;  // as in nbody.hpp
constexpr std::size_t kFrames = 12;

// Positions and masses, each kind side by side: loops over them become vector code.
struct Bodies {
  std::vector<double> x, y, z, mass;
  explicit Bodies(std::span<const float> all) {
    for (std::size_t i = 0; i < all.size(); i += 4)
      x.push_back(all[i]), y.push_back(all[i + 1]), z.push_back(all[i + 2]), mass.push_back(all[i + 3]);
  }
};

// The sums over all bodies of what pulls body i, of its magnitudes and of its squares.
RIDGE_WIDE void add_pulls(const Bodies& all, std::size_t i, double* sum, double* magnitude, double* squares) {
  const double *bx = all.x.data(), *by = all.y.data(), *bz = all.z.data(), *mass = all.mass.data();
  const double px = bx[i], py = by[i], pz = bz[i];
  double x1 = 0, y1 = 0, z1 = 0, xm = 0, ym = 0, zm = 0, x2 = 0, y2 = 0, z2 = 0;
#pragma omp simd reduction(+ : x1, y1, z1, xm, ym, zm, x2, y2, z2)
  for (std::size_t j = 0; j < all.x.size(); ++j) {
    const double x = bx[j] - px, y = by[j] - py, z = bz[j] - pz, r2 = x * x + y * y + z * z + kSoftening;
    const double scale = mass[j] / (r2 * std::sqrt(r2)), tx = scale * x, ty = scale * y, tz = scale * z;
    x1 += tx, y1 += ty, z1 += tz, xm += std::fabs(tx), ym += std::fabs(ty), zm += std::fabs(tz);
    x2 += tx * tx, y2 += ty * ty, z2 += tz * tz;
  }
  sum[0] = x1, sum[1] = y1, sum[2] = z1, magnitude[0] = xm, magnitude[1] = ym, magnitude[2] = zm;
  squares[0] = x2, squares[1] = y2, squares[2] = z2;
}

// Sizes: bodies, atoms, frames, side, cutoff, skin, cells.
class Nbody : public TaskCheck {
 public:
  std::string id() const override { return "nbody"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto pairs = [&](std::int64_t n, bool measured = false) {
      all.push_back({fmt::format("{} bodies", n), {n, 0, 0, 0, 0, 0, 0}, measured});
    };
    auto near = [&](std::int64_t n, std::int64_t side, std::int64_t cutoff, std::int64_t skin, std::int64_t cells) {
      all.push_back({fmt::format("{} atoms, cutoff {}, skin {}", n, cutoff, skin),
                     {0, n, static_cast<std::int64_t>(kFrames), side, cutoff, skin, cells}});
    };
    pairs(1), pairs(301);
    near(1, 256, 40, 24, 4), near(700, 256, 40, 24, 4);
    near(r.mode == Mode::grade ? random_size(r.seed, 1200, 2200) : 1500, 1024, 100, 28, 8);
    if (r.backend == Backend::cpu) {
      pairs(r.mode == Mode::check ? 1500 : 2500, true);
    } else {
      pairs(20011), pairs(65536, true);
      if (r.mode == Mode::grade) pairs(131072, true);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s = sizes(c);
    const std::size_t cells = s.cells * s.cells * s.cells;
    return {{std::max<std::size_t>(1, s.bodies) * 16, std::max<std::size_t>(1, s.atoms * s.frames) * 16},
            {std::max<std::size_t>(1, s.bodies) * 16, std::max<std::size_t>(1, s.atoms * s.frames) * 16,
             std::max<std::size_t>(1, s.frames) * 4},
            std::max(1024 * s.bodies, 64 * s.atoms + 16 * cells) + 64 * 1024};
  }
  // Bodies lie in a cube around 0. Atoms begin anywhere in the box and keep their velocities, up to 2 units a frame along
  // each axis; one of 97 stands still until the middle, and then jumps.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const Sizes s = sizes(c);
    const auto bodies = floats(in[0]);
    fill_uniform(bodies, random_bits(seed, 0));
    for (std::size_t i = 3; i < bodies.size(); i += 4) bodies[i] = std::fabs(bodies[i]);
    const auto atoms = as<Atom>(in[1]);
    const auto wrap = [&](std::int64_t x) { return static_cast<std::int32_t>(x & (s.side - 1)); };
    for (std::size_t i = 0; i < s.atoms; ++i)
      for (std::size_t f = 0; f < s.frames; ++f) {
        Atom& a = atoms[f * s.atoms + i];
        for (std::size_t d = 0; d < 3; ++d) {
          const auto from = static_cast<std::int64_t>(random_bits(seed, 8 * i + d) >> 20);
          const auto speed = static_cast<std::int64_t>(random_bits(seed, 8 * i + 4 + d) % 5) - 2;
          const auto frame = static_cast<std::int64_t>(f);
          a[d] = wrap(i % 97 == 5 ? from + (f >= kFrames / 2 ? 3 * s.skin : 0) : from + speed * frame);
        }
        a[3] = 0;
      }
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const Sizes s = sizes(c);
    if (s.bodies > 0)
      if (Verdict v = all_pairs(floats(in[0]), floats(out[0])); !v.ok) return v;
    if (s.atoms == 0) return {};
    if (Verdict v = builds(s, as<Atom>(in[1]), as<std::int32_t>(out[2])); !v.ok) return v;
    return near_pairs(s, as<Atom>(in[1]), as<std::int32_t>(out[1]));
  }
  // Two bodies pull each other by one distance: a program that takes each pair once has 26 operations for two terms.
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]), atoms = static_cast<double>(c.size[1] * c.size[2]);
    return {13 * n * n, "flop", 16 * n + 16 * atoms, 16 * n + 16 * atoms};
  }
  // Of all pairs, with 4 bodies a thread, blocks of 256, and sources in 8 parts. Shared: a load for 4 x 32 pairs. Loads: a
  // tile for each 1024 bodies; bodies and their sums once for each part.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]), blocks = std::ceil(n / 1024), padded = std::ceil(n / 256) * 256;
    return {{"shared_requests_over_bound", blocks * 1024 * padded / 128},
            {"load_sectors_over_bound", (blocks * n + 8 * n + 8 * n) / 2}};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  struct Sizes {
    std::size_t bodies, atoms, frames;
    std::int64_t side, cutoff, skin;
    std::size_t cells;
  };
  static Sizes sizes(const Case& c) {
    auto n = [&](std::size_t i) { return static_cast<std::size_t>(c.size[i]); };
    return {n(0), n(1), n(2), c.size[3], c.size[4], c.size[5], n(6)};
  }
  static std::int64_t squared(const Sizes& s, const Atom& a, const Atom& b, std::array<std::int64_t, 3>& d) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = ((a[k] - b[k] + s.side / 2) & (s.side - 1)) - s.side / 2;
      sum += d[k] * d[k];
    }
    return sum;
  }

  static Verdict all_pairs(std::span<const float> bodies, std::span<const float> force) {
    const std::size_t n = bodies.size() / 4;
    const Bodies all(bodies);
    return compare_parts<CloseTally>(
        4 * n, n, std::max<std::size_t>(1, (1 << 20) / n),
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          for (std::size_t i = from; i < to; ++i) {
            double sum[3], magnitude[3], squares[3];
            add_pulls(all, i, sum, magnitude, squares);
            // A term has some ten roundings, among them three times that of the reciprocal square root.
            for (std::size_t d = 0; d < 3; ++d) {
              Expected e = Tolerance{}.of({static_cast<double>(n), sum[d], magnitude[d], squares[d]});
              e.deviation += 8 * 0x1p-24 * std::sqrt(squares[d]), e.worst += 24 * 0x1p-24 * magnitude[d];
              e.leans = true;
              tally.add(4 * i + d, double{force[4 * i + d]}, e);
            }
            tally.add(4 * i + 3, double{force[4 * i + 3]}, within_ulps(0, 0, 1));
          }
        },
        [](std::size_t i) { return fmt::format("force[{}].{}", i / 4, "xyzw"[i % 4]); }, Extent::share);
  }

  // The cells are made anew in the first frame, and when an atom has moved by more than half of the skin.
  static Verdict builds(const Sizes& s, std::span<const Atom> atoms, std::span<const std::int32_t> got) {
    std::size_t made = 0;
    std::int32_t expected = 1;
    for (std::size_t f = 0; f < s.frames; ++f) {
      std::int64_t farthest = 0;
      std::array<std::int64_t, 3> d{};
      for (std::size_t i = 0; i < s.atoms; ++i)
        farthest = std::max(farthest, squared(s, atoms[f * s.atoms + i], atoms[made * s.atoms + i], d));
      if (4 * farthest > s.skin * s.skin) ++expected, made = f;
      if (got[f] != expected)
        return {false,
                fmt::format("frame {}: builds is {}, expected {}: since the cells were made, in frame {}, the farthest "
                            "atom has moved by {:.2f}, and half of the skin is {}",
                            f, got[f], expected, made, std::sqrt(static_cast<double>(farthest)), s.skin / 2),
                "the cells were not made anew in the frames in which the contract wants it"};
    }
    return {};
  }

  static Verdict near_pairs(const Sizes& s, std::span<const Atom> atoms, std::span<const std::int32_t> got) {
    std::vector<std::int32_t> expected(got.size());
    parallel_for(
        s.frames * s.atoms,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t k = from; k < to; ++k) {
            const std::size_t first = k / s.atoms * s.atoms;
            std::array<std::int64_t, 4> sum{};
            for (std::size_t j = first; j < first + s.atoms; ++j) {
              std::array<std::int64_t, 3> d{};
              const std::int64_t w = s.cutoff * s.cutoff - squared(s, atoms[k], atoms[j], d);
              if (j == k || w <= 0) continue;
              for (std::size_t a = 0; a < 3; ++a) sum[a] += w * d[a];
              ++sum[3];
            }
            for (std::size_t a = 0; a < 4; ++a) expected[4 * k + a] = static_cast<std::int32_t>(sum[a]);
          }
        },
        1 << 8);
    return compare_exact<std::int32_t>(
        got, [&](std::size_t i) { return expected[i]; },
        [&](std::size_t i) {
          return fmt::format("frame {}, force[{}].{}", i / 4 / s.atoms, i / 4 % s.atoms, "xyzw"[i % 4]);
        });
  }
};

}  // namespace

std::unique_ptr<TaskCheck> nbody() { return std::make_unique<Nbody>(); }

}  // namespace ridge::lab::science
