// Cases, inputs and expected answers of lab 04. Inputs and outputs are bf16; products of two bf16 are exact in fp32, so
// an honest answer differs only by the order of the fp32 additions in the tensor cores and one rounding to bf16.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/freivalds.hpp"
#include "checks/variants.hpp"
#include "checks/wide.hpp"

namespace {

using namespace ridge::lab;

constexpr Tolerance kProduct{kTensorFp32, kFp64, kBf16}, kBeforeRounding{kTensorFp32, kFp64, kFp32};

// A linear layer: c = a b^T, a is m x k, b is n x k.
struct Sizes {
  std::size_t m, n, k;
  explicit Sizes(const Case& c)
      : m(static_cast<std::size_t>(c.size[0])),
        n(static_cast<std::size_t>(c.size[1])),
        k(static_cast<std::size_t>(c.size[2])) {}
  double operations() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  double bytes() const { return 2 * (static_cast<double>(m * k) + static_cast<double>(n * k + m * n)); }
};

std::string at(std::size_t i, std::size_t n) { return fmt::format("c[{}][{}]", i / n, i % n); }

RIDGE_WIDE void widen(const void* from, std::size_t count, double* to) {
  const auto* x = static_cast<const Bf16*>(from);
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) to[i] = x[i];
}

// A product of two is exact in fp32.
RIDGE_WIDE Reduction dot(const Bf16* a, const Bf16* b, std::size_t n) {
  double sum = 0, magnitude = 0, squares = 0;
#pragma omp simd reduction(+ : sum, magnitude, squares)
  for (std::size_t i = 0; i < n; ++i) {
    const double term = a[i].as_float() * b[i].as_float();
    sum += term;
    magnitude += std::fabs(term);
    squares += term * term;
  }
  return {static_cast<double>(n), sum, magnitude, squares};
}

RIDGE_WIDE bool all_finite(const Bf16* x, std::size_t n) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < n; ++i) bad |= (x[i].bits & 0x7F80) == 0x7F80 ? 1 : 0;
  return bad == 0;
}

struct LinearProduct {
  Sizes s;
  std::span<const Bf16> a, b, bias, c;

  Reduction sum(std::size_t i) const {
    Reduction r = dot(a.data() + i / s.n * s.k, b.data() + i % s.n * s.k, s.k);
    if (!bias.empty()) r.add(bias[i % s.n]);
    return r;
  }
  // Element i of a b, with b read as k x n. A mistake.
  double times_b_as_it_lies(std::size_t i) const {
    double sum = 0;
    for (std::size_t p = 0; p < s.k; ++p) sum += a[i / s.n * s.k + p].as_float() * b[p * s.n + i % s.n].as_float();
    return sum;
  }
};

// Compares all elements of a small product. In a large one it looks for NaNs and compares one element of each square, at a
// random place: no tile can be left out. Of a share, a sixteenth of these squares.
template <class Element>
Verdict compare_elements(const LinearProduct& p, Element expected, std::uint64_t seed) {
  const auto [m, n, k] = std::array{p.s.m, p.s.n, p.s.k};
  if (p.s.operations() <= 1e9)
    return compare_close<Bf16>(
        p.c, expected, [&](std::size_t i) { return at(i, n); }, k);

  std::atomic<std::size_t> wrong{0}, first{p.c.size()};
  parallel_for(p.c.size(), [&](std::size_t from, std::size_t to) {
    if (all_finite(p.c.data() + from, to - from)) return;
    for (std::size_t i = from; i < to; ++i) {
      if (std::isfinite(double{p.c[i]})) continue;
      ++wrong;
      for (std::size_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
    }
  });
  if (wrong > 0)
    return {false, mismatch(first, wrong, p.c.size(), "a number", fmt::format("{}", double{p.c[first]}), at(first, n))};

  std::size_t side = 4;
  while ((m / side + 1) * (n / side + 1) > std::size_t{1} << 18) side *= 2;
  const std::size_t down = (m + side - 1) / side, across = (n + side - 1) / side;
  std::vector<std::size_t> place(down * across);
  std::vector<Bf16> got(place.size());
  for (std::size_t q = 0; q < place.size(); ++q) {
    const std::uint64_t bits = random_bits(seed, q);
    const std::size_t row = std::min(q / across * side + bits % side, m - 1);
    const std::size_t col = std::min(q % across * side + (bits >> 32) % side, n - 1);
    place[q] = row * n + col;
    got[q] = p.c[place[q]];
  }
  return compare_close<Bf16>(
      got, [&](std::size_t q) { return expected(place[q]); },
      [&](std::size_t q) { return at(place[q], n) + " of the sample"; }, k);
}

Matrix matrix_of(std::span<const Bf16> m, std::size_t rows, std::size_t cols) {
  return {m.data(), rows, cols, sizeof(Bf16), widen};
}

// Freivalds' check, C r = A (B^T r), on bf16 as it lies in memory; freivalds.hpp explains the idea and its odds. It
// covers every element, but finds a single wrong one only when it is far off: the rounding errors of a row add up.
Verdict freivalds(const LinearProduct& p, std::uint64_t seed) {
  constexpr std::size_t kRounds = kFreivaldsRounds;
  static_assert(kRounds == 8);
  std::vector<Eight> random(p.s.n);
  for (std::size_t j = 0; j < p.s.n; ++j)
    for (std::size_t r = 0; r < kRounds; ++r) random[j].x[r] = freivalds_entry(seed, j * kRounds + r);
  const std::vector<double> ones(p.s.n, 1);
  const Products inner = times_transposed(matrix_of(p.b, p.s.n, p.s.k), random, ones);
  const Products expected = times(matrix_of(p.a, p.s.m, p.s.k), inner.of, inner.squares, true);
  const Products got = times(matrix_of(p.c, p.s.m, p.s.n), random, ones, true);
  CloseTally all(p.s.m * kRounds);
  for (std::size_t i = 0; i < p.s.m; ++i) {
    if (!compares_row(i, p.s.m)) continue;
    Reduction row;  // of all elements of the row together
    row.length = static_cast<double>(p.s.k);
    row.sum = std::sqrt(got.squares[i]);
    row.squares = expected.squares[i];
    row.magnitude = std::sqrt(row.squares * row.length * static_cast<double>(p.s.n));
    const Expected of_row = kProduct.of(row);
    for (std::size_t r = 0; r < kRounds; ++r) {
      Expected e = of_row;
      e.value = expected.of[i].x[r];
      e.deviation *= std::sqrt(kMeanSquareEntry);
      e.worst *= kLargestEntry;
      e.magnitude *= kLargestEntry;
      all.add(i * kRounds + r, got.of[i].x[r], e);
    }
  }
  if (all.ok()) return {};
  return {false,
          "Freivalds' check, C r = A (B^T r) for random r: " +
              all.message([](std::size_t i) { return fmt::format("row {} of c", i / kRounds); }),
          {},
          "correct",
          all.cause()};
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

using Shapes = std::vector<std::array<std::int64_t, 3>>;

class Gemm : public TaskCheck {
 public:
  // `small`, `large`: what is measured on a GPU by check and by grade.
  Gemm(std::string id, Shapes small, Shapes large)
      : id_(std::move(id)), small_(std::move(small)), large_(std::move(large)) {}

  std::string id() const override { return id_; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::array<std::int64_t, 3> s, bool measured) {
      all.push_back({fmt::format("{} x {} x {}", s[0], s[1], s[2]), {s[0], s[1], s[2]}, measured});
    };
    for (auto s : Shapes{{1, 8, 8}, {136, 200, 72}, {257, 136, 264}, {40, 72, 1032}, {1, 136, 72}, {300, 8, 136}})
      add(s, false);
    if (r.mode == Mode::grade) {
      auto eights = [&](std::uint64_t i, std::int64_t high) { return random_size(r.seed + i, 64, high) / 8 * 8; };
      add({random_size(r.seed, 100, 300), eights(1, 300), eights(2, 600)}, false);
    }
    if (r.backend == Backend::cpu) {
      add(r.mode == Mode::check ? emulated_[0] : emulated_[1], true);
      return all;
    }
    bool any = false;
    for (auto s : r.mode == Mode::check ? small_ : large_) {
      Case c{"", {s[0], s[1], s[2]}};
      if (any && Sizes(c).bytes() > static_cast<double>(r.memory)) continue;
      add(s, any = true);
    }
    return all;
  }
  Shape shape(const Case& c) const override {
    const Sizes s(c);
    return {{s.m * s.k * 2, s.n * s.k * 2}, {s.m * s.n * 2}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_normal(as<Bf16>(in[0]), random_bits(seed, 0));
    fill_normal(as<Bf16>(in[1]), random_bits(seed, 1));
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 2; }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const LinearProduct p{Sizes(c), as<Bf16>(in[0]), as<Bf16>(in[1]), {}, as<Bf16>(out[0])};
    const std::uint64_t seed = fresh_seed();
    Verdict v = compare_elements(
        p, [&](std::size_t i) { return kProduct.of(p.sum(i)); }, seed);
    if (v.ok && p.s.operations() > 1e9) v = freivalds(p, seed);
    tell_variant(
        v, p.c.size(), [&](std::size_t i) { return double{p.c[i]}; },
        {{"those are the numbers of a b, where a b^T is asked: b is n x k, so its rows are the columns of the factor",
          [&](std::size_t i) { return p.times_b_as_it_lies(i); }}},
        0.01, std::sqrt(static_cast<double>(p.s.k)));
    return v;
  }
  Work work(const Case& c) const override {
    const Sizes s(c);
    const double written = 2 * static_cast<double>(s.m * s.n);
    return {s.operations(), "flop", s.bytes() - written, written, "bf16"};
  }
  // 128 x 128 tiles: a is read once for each tile of a row, b once for each of a column, c is written once; two
  // barriers for each 64 of k, and one more. Shared memory has 128 bytes in a pass: a step of a tile stores 32 KiB, and
  // each of 4 warps reads 16 KiB.
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s(c);
    const std::size_t down = (s.m + 127) / 128, across = (s.n + 127) / 128;
    return {{"load_sectors_over_bound", static_cast<double>((across * s.m + down * s.n) * s.k * 2) / 32},
            {"store_sectors_over_bound", static_cast<double>(s.m * s.n * 2) / 32},
            {"barriers_over_bound", static_cast<double>(down * across * (2 * ((s.k + 63) / 64) + 1))},
            {"conflicts_over_bound", static_cast<double>(down * across * ((s.k + 63) / 64) * (256 + 4 * 128))}};
  }

 protected:
  Shapes emulated_ = {{256, 256, 256}, {512, 384, 256}};

 private:
  std::string id_;
  Shapes small_, large_;
};

// On the emulator it is judged with tiles of 128 x 256, a ring of four stages, and few tiles with many steps of k: what
// counts there is whether a block's copies hide behind its products.
class FastGemm : public Gemm {
 public:
  FastGemm(Shapes small, Shapes large) : Gemm("gemm", std::move(small), std::move(large)) {
    emulated_ = {{256, 256, 512}, {384, 512, 1024}};
  }
  // More tiles than SMs, so that a block takes two, and uses each stage again.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all = Gemm::cases(r);
    if (r.backend == Backend::cpu) all.insert(all.begin() + 6, {"16904 x 8 x 200", {16904, 8, 200}, false});
    return all;
  }
  // A step of 64 of k brings 128 rows of a and 256 of b, 48 KiB in 384 passes of shared memory; two warpgroups each read
  // 64 rows of a and all of b for each 16 of k, 640 passes together. Each copy's latency and each product is waited for
  // by a quarter: four stages are under way. README.md, "What is measured".
  std::vector<Bound> bounds(const Case& c) const override {
    const Sizes s(c);
    const auto& d = ridge::default_profile().device;
    const double down = static_cast<double>((s.m + 127) / 128), across = static_cast<double>((s.n + 255) / 256);
    const double k = static_cast<double>(s.k), steps = std::ceil(k / 64), stages = 4;
    const double tiles = std::ceil(down * across / d.at("sms"));  // of a block
    const double cycle = 1 / d.at("clock_hz");
    const double products = tiles * steps * 2 * 128 * 256 * 64 / d.at("matrix_flops") * cycle;
    const double passes = tiles * steps * (384 + 640) / d.at("l1_wavefronts") * cycle;
    const double copy = d.at("l1_latency") + d.at("l2_latency") + d.at("dram_latency");
    const double latency = (tiles * steps * (copy + 2 * d.at("barrier_latency")) + products) / stages;
    const double kernel = std::cbrt(std::pow(products, 3) + std::pow(passes, 3) + std::pow(latency, 3));
    return {
        {"load_sectors_over_bound", (across * static_cast<double>(s.m) + down * static_cast<double>(s.n)) * k * 2 / 32},
        {"virtual_time_over_bound", d.at("launch_call") + d.at("kernel_latency") + kernel + d.at("sync_call")}};
  }
};

// gelu in its tanh form and its slope at x. Written as x times a logistic function it has no cancellation.
struct Gelu {
  double value, slope;
  explicit Gelu(double x) {
    const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    const double s = 1 / (1 + std::exp(-2 * u));
    value = x * s;
    slope = s + x * s * (1 - s) * 2 * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
  }
};

class GemmGelu : public Gemm {
 public:
  GemmGelu() : Gemm("gemm_gelu", {{4096, 4096, 4096}}, {{4096, 4096, 4096}, {8192, 16384, 4096}, {16384, 8192, 8192}}) {
    emulated_ = {{256, 256, 128}, {512, 384, 128}};
  }
  Shape shape(const Case& c) const override {
    Shape s = Gemm::shape(c);
    s.in.push_back(Sizes(c).n * 2);
    return s;
  }
  // Scaled so that gelu's argument is where it is far from linear: sums are N(0, 2).
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    fill_normal(as<Bf16>(in[0]), random_bits(seed, 0));
    fill_normal(as<Bf16>(in[1]), random_bits(seed, 1), 1 / std::sqrt(static_cast<float>(Sizes(c).k)));
    fill_normal(as<Bf16>(in[2]), random_bits(seed, 2));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const LinearProduct p{Sizes(c), as<Bf16>(in[0]), as<Bf16>(in[1]), as<Bf16>(in[2]), as<Bf16>(out[0])};
    Verdict v = compare_elements(
        p,
        [&](std::size_t i) {
          const Reduction r = p.sum(i);
          const Expected x = kBeforeRounding.of(r);
          const Gelu y(r.sum);
          // The sum's error, the last rounding, and some roundings in fp32 of numbers as large as x.
          const double fp32 = 8 * kFp32.unit() * (std::fabs(r.sum) + std::fabs(y.value)), u = kBf16.unit();
          return Expected{y.value, std::fabs(y.slope) * x.deviation + u / std::sqrt(3.0) * std::fabs(y.value) + fp32,
                          1.2 * x.worst + u * std::fabs(y.value) + 4 * fp32, r.magnitude, true};
        },
        fresh_seed());
    const auto product = [&](std::size_t i) { return p.sum(i).sum - double{p.bias[i % p.s.n]}; };
    const auto erf_form = [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); };
    const auto rounded = [](double x) {  // to bf16
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
      return double{std::bit_cast<float>((bits + 0x7FFFu + (bits >> 16 & 1)) & 0xFFFF0000u)};
    };
    const std::size_t n = p.s.n;
    const bool told = tell_variant(
        v, p.c.size(), [&](std::size_t i) { return double{p.c[i]}; },
        {{"that is gelu with the bias of the row: bias[column] is asked",
          [&](std::size_t i) { return Gelu(product(i) + double{p.bias[std::min(i / n, n - 1)]}).value; }},
         {"that is a b^T alone: bias and gelu are missing", product},
         {"the bias is missing", [&](std::size_t i) { return Gelu(product(i)).value; }},
         {"that is the sum with its bias, without gelu", [&](std::size_t i) { return p.sum(i).sum; }},
         {"that is gelu(sum) + bias, where gelu(sum + bias) is asked",
          [&](std::size_t i) { return Gelu(product(i)).value + double{p.bias[i % n]}; }}},
        0.01, 0.1);
    if (!told)
      tell_variant(
          v, p.c.size(), [&](std::size_t i) { return double{p.c[i]}; },
          {{"that is gelu by erf: the lesson asks for its tanh form",
            [&](std::size_t i) { return rounded(erf_form(p.sum(i).sum)); }},
           {"the product was rounded to bf16 before bias and gelu: round once, at the end",
            [&](std::size_t i) { return rounded(Gelu(rounded(product(i)) + double{p.bias[i % n]}).value); }}},
          1.0 / 256, 1e-4);
    return v;
  }
  Work work(const Case& c) const override {
    Work w = Gemm::work(c);
    w.bytes_read += 2 * static_cast<double>(Sizes(c).n);
    return w;
  }
};

TaskChecks make() {
  TaskChecks checks;
  const Shapes large = {{4096, 4096, 4096}, {8192, 8192, 8192}, {16384, 16384, 16384}};
  checks.push_back(std::make_unique<Gemm>("wmma_gemm", Shapes{large[0]}, Shapes{large[0], large[1]}));
  checks.push_back(std::make_unique<Gemm>("wgmma_gemm", Shapes{large[0]}, Shapes{large[0], large[1]}));
  checks.push_back(std::make_unique<FastGemm>(Shapes{large[0]}, large));
  checks.push_back(std::make_unique<GemmGelu>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("04_tensor_core", make);

}  // namespace
