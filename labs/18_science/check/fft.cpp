// fft: forward and inverse transforms, held against double precision.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "checks/compare.hpp"
#include "tasks.hpp"

namespace ridge::lab::science {

namespace {

using Complex = std::complex<double>;

// In place, n a power of two, `sign` of the exponent. roots: exp(2 pi i k / n) for k < n.
void transform(std::vector<Complex>& v, const std::vector<Complex>& roots, int sign) {
  const std::size_t n = v.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(v[i], v[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2)
    for (std::size_t first = 0; first < n; first += length)
      for (std::size_t k = 0; k < length / 2; ++k) {
        const Complex w = roots[k * (n / length)];
        const Complex a = v[first + k], b = v[first + k + length / 2] * (sign > 0 ? w : std::conj(w));
        v[first + k] = a + b, v[first + k + length / 2] = a - b;
      }
}

std::vector<Complex> roots_of(std::size_t n) {
  std::vector<Complex> roots(n);
  for (std::size_t k = 0; k < n; ++k)
    roots[k] = std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  return roots;
}

// Sizes: n, batch, whether the calls are three: forward of in[0], inverse of in[1], forward of in[1].
class Fft : public TaskCheck {
 public:
  std::string id() const override { return "fft"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::int64_t n, std::int64_t batch, bool three, bool measured = false) {
      all.push_back({fmt::format("{} x {} points", batch, n), {n, batch, three ? 1 : 0}, measured});
    };
    const bool cpu = r.backend == Backend::cpu;
    add(4096, 1, true), add(65536, 1, true), add(65536, cpu ? 3 : 77, true);
    if (r.mode == Mode::grade) add(4096, 1 + static_cast<std::int64_t>(random_bits(r.seed, 0) % 4), true);
    if (cpu) {
      add(4096, r.mode == Mode::check ? 3 : 5, true, true);
      return all;
    }
    std::int64_t points = std::int64_t{1} << (r.mode == Mode::check ? 26 : 28);
    while (points > 65536 && static_cast<std::uint64_t>(points) * 16 > r.memory) points /= 2;
    add(4096, points / 4096, false, true), add(65536, points / 65536, false, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = points(c) * 8, batch = static_cast<std::size_t>(c.size[1]);
    Shape s{{bytes}, {bytes}, static_cast<std::size_t>(c.size[0]) * 8 + 64 * 1024 + 8 * batch};
    if (c.size[2] != 0) s.in.push_back(bytes), s.out.push_back(bytes), s.out.push_back(bytes);
    return s;
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    for (std::size_t i = 0; i < in.size(); ++i) fill_normal(floats(in[i]), random_bits(seed, i));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    struct Call {
      std::size_t in, out;
      bool inverse;
    };
    std::vector<Call> calls = {{0, 0, false}};
    if (c.size[2] != 0) calls.push_back({1, 1, true}), calls.push_back({1, 2, false});
    for (const Call& call : calls) {
      Verdict v = compare(c, floats(in[call.in]), floats(out[call.out]), call.inverse);
      if (v.ok) continue;
      v.message = fmt::format("{}: {}", call.inverse ? "inverse" : "forward", v.message);
      return v;
    }
    return {};
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]), all = static_cast<double>(points(c)) * (c.size[2] != 0 ? 3 : 1);
    return {5 * all * std::log2(n), "flop", 8 * all, 8 * all};
  }
  // Loads: every point once, and a root for each thread of 16 points, twice. Wavefronts: every point is stored to shared
  // memory twice and loaded twice, 8 bytes a lane. Launches: one for the plan, one for each call.
  std::vector<Bound> bounds(const Case& c) const override {
    const double all = 3 * static_cast<double>(points(c));
    return {{"load_sectors_over_bound", all / 4 * (1 + 1.0 / 16)},
            {"store_sectors_over_bound", (all + static_cast<double>(c.size[0])) / 4},
            {"shared_wavefronts_over_bound", all * 4 / 16},
            {"launches_over_bound", 4}};
  }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }

 private:
  static std::size_t points(const Case& c) {
    return static_cast<std::size_t>(c.size[0]) * static_cast<std::size_t>(c.size[1]);
  }
  static Verdict compare(const Case& c, std::span<const float> x, std::span<const float> got, bool inverse) {
    const auto n = static_cast<std::size_t>(c.size[0]), batch = static_cast<std::size_t>(c.size[1]);
    const std::vector<Complex> roots = roots_of(n);
    return compare_parts<CloseTally>(
        2 * n * batch, batch, std::max<std::size_t>(1, (1 << 16) / n),
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          std::vector<Complex> v(n);
          for (std::size_t b = from; b < to; ++b) {
            double squares = 0;
            for (std::size_t j = 0; j < n; ++j) {
              v[j] = {x[2 * (b * n + j)], x[2 * (b * n + j) + 1]};
              squares += std::norm(v[j]);
            }
            transform(v, roots, inverse ? 1 : -1);
            const double scale = inverse ? 1.0 / static_cast<double>(n) : 1, size = std::sqrt(squares) * scale;
            // An exact transform in fp32 is within some units of the size that all numbers have on average.
            Expecteds e;
            e.leans = true;  // constants such as the root of 1/2 are rounded, always to the same side
            for (std::size_t first = 0; first < 2 * n; first += kTogether) {
              for (std::size_t k = 0; k < kTogether; ++k) {
                const Complex z = v[(first + k) / 2] * scale;
                e.set(k, {k % 2 == 0 ? z.real() : z.imag(), 6 * 0x1p-24 * size, 120 * 0x1p-24 * size, size});
              }
              tally.add(2 * b * n + first, got.subspan(2 * b * n + first, kTogether), e);
            }
          }
        },
        [n](std::size_t i) { return fmt::format("out[{}][{}]{}", i / 2 / n, i / 2 % n, i % 2 == 0 ? ".x" : ".y"); },
        Extent::share);
  }
};

}  // namespace

std::unique_ptr<TaskCheck> fft() { return std::make_unique<Fft>(); }

}  // namespace ridge::lab::science
