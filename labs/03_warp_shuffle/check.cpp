// Cases, inputs and expected answers of lab 03. scan and compact are exact; reduce, softmax and layernorm are compared
// with double precision, within what rounding explains.
#include "checks/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "checks/compare.hpp"
#include "checks/missing_run.hpp"
#include "checks/stream.hpp"
#include "checks/variants.hpp"
#include "checks/wide.hpp"

namespace {

using namespace ridge::lab;

constexpr double kUnit = 0x1p-24;       // fp32
constexpr double kLongestChain = 4096;  // additions that an element may pass through (warp_shuffle.hpp)
constexpr double kEpsilon = 1e-5f;      // of layernorm

std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }
std::size_t workspace_for(std::int64_t n) { return (std::size_t{1} << 20) + at(n) / 16; }

// `want` elements, halved until their input and output fit in the memory.
std::int64_t fitting(std::int64_t want, const Request& r) {
  while (want > 1024 && static_cast<std::uint64_t>(want) * 8 > r.memory) want /= 2;
  return want;
}

std::int64_t measured_elements(const Request& r) {
  if (r.backend == Backend::cpu) return r.mode == Mode::check ? 1 << 17 : 1 << 20;
  return fitting(r.mode == Mode::check ? std::int64_t{1} << 26 : std::int64_t{1} << 28, r);
}

std::vector<std::int64_t> tried(const Request& r, std::vector<std::int64_t> sizes, std::int64_t high) {
  if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, high / 2, high));
  return sizes;
}

// Matrices to measure: on a GPU rows of each length that the goal names. An SM holds one or two rows of 128 KiB at a time,
// so rows come in waves: 8448 rows are 64 waves of 132 SMs. The first reads and the last writes, which nothing overlaps,
// are then less than 2% of the time.
std::vector<std::array<std::int64_t, 2>> measured_matrices(const Request& r) {
  const std::int64_t n = measured_elements(r);
  if (r.backend == Backend::cpu) return {{n / 1024, 1024}};
  constexpr std::int64_t kRows = 64 * 132;
  std::vector<std::array<std::int64_t, 2>> all;
  for (std::int64_t cols : {1024, 4096, 16384, 32768}) {
    const std::int64_t rows = (n / cols + kRows - 1) / kRows * kRows;
    all.push_back({fitting(rows * cols, r) / cols, cols});
  }
  return all;
}

std::vector<std::array<std::int64_t, 2>> tried_matrices(const Request& r) {
  std::vector<std::array<std::int64_t, 2>> all = {{1, 1},     {13, 64},   {37, 257},  {3, 1000}, {2, 9999},
                                                  {1, 12288}, {2, 20004}, {3, 32768}, {300, 1},  {3, 2044},
                                                  {2, 4096},  {3, 8188},  {1, 16384}, {13, 1024}};
  if (r.mode == Mode::grade) all.push_back({random_size(r.seed, 2, 60), random_size(r.seed + 1, 50, 3000)});
  return all;
}

Where named(const char* what) {
  return [what](std::size_t i) { return fmt::format("{}[{}]", what, i); };
}
Where in_rows(std::size_t cols) {
  return [cols](std::size_t i) { return fmt::format("out[{}][{}]", i / cols, i % cols); };
}

constexpr std::size_t kPart = 1 << 16;  // elements of an array that a thread takes at a time

std::size_t parts_of(std::size_t n) { return (n + kPart - 1) / kPart; }
template <class T>
std::span<T> part_of(std::span<T> all, std::size_t part) {
  return all.subspan(part * kPart, std::min(kPart, all.size() - part * kPart));
}
// So many rows are worth a thread of the host.
std::size_t rows_together(std::size_t cols) { return std::max<std::size_t>(1, kPart / cols); }

RIDGE_WIDE Reduction terms_of(std::span<const float> x) {
  double sum = 0, magnitude = 0, squares = 0;
  const float* from = x.data();
  const std::size_t n = x.size();
#pragma omp simd reduction(+ : sum, magnitude, squares)
  for (std::size_t i = 0; i < n; ++i) {
    const double term = from[i];
    sum += term;
    magnitude += std::fabs(term);
    squares += term * term;
  }
  return {static_cast<double>(n), sum, magnitude, squares};
}

class Reduce : public TaskCheck {
 public:
  std::string id() const override { return "reduce"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 65535, 65537}, 300000)) all.push_back({fmt::format("n {}", n), {n}});
    all.push_back({"one large among 300007", {300007, 1}});
    const std::int64_t n = measured_elements(r);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override { return {{at(c.size[0]) * 4}, {4}, workspace_for(0)}; }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    auto x = floats(in[0]);
    fill_uniform(x, seed);
    if (c.size[1] == 0) return;
    std::fill(x.begin(), x.end(), 1.0f);
    x[random_bits(seed, 0) % 32] = 0x1p24f;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto x = floats(in[0]);
    std::vector<Reduction> parts(parts_of(x.size()));
    parallel_for(
        parts.size(),
        [&](std::size_t from, std::size_t to) {
          for (std::size_t p = from; p < to; ++p) parts[p] = terms_of(part_of(x, p));
        },
        4);
    Reduction terms;
    for (const Reduction& p : parts) {
      terms.length += p.length;
      terms.sum += p.sum;
      terms.magnitude += p.magnitude;
      terms.squares += p.squares;
    }
    Expected e = Tolerance{}.of(terms);
    if (c.size[1] != 0) {  // what a tree of chains that are not too long never exceeds
      e.worst = kLongestChain * kUnit / (1 - kLongestChain * kUnit) * terms.magnitude;
      e.deviation = e.worst / 2;
    }
    Verdict v = compare_close(
        floats(out[0]), [&](std::size_t) { return e; }, [](std::size_t) { return std::string("out"); });
    if (v.ok) return v;
    if (c.size[1] != 0) {  // no precision of fp32's is missing
      v.message.resize(std::min(v.message.size(), v.message.find("; the error is")));
      v.message += "; one element is 2^24, all others are 1: a sum that has met it does not see a single 1 any more";
      v.cause = ridge::Cause::none;
    }
    const float one_by_one = std::accumulate(x.begin(), x.end(), 0.0f);
    if (x.size() > 1 && floats(out[0])[0] == one_by_one)
      v.message += "; that is what one float gives to which all elements are added in their order";
    return v;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // 16 elements a lane, then one number of each warp
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 512},
            {"barriers_over_bound", n / 2048},
            {"idle_lanes_over_bound", n / 32 * 8},  // instructions for each 32 elements
            {"tail_over_bound", 1000}};             // the last block adds up what all have left
  }
};

// Prefix sums of tiles of this many numbers (warp_shuffle.hpp).
constexpr std::size_t kScanTile = 4096;

class BlockScan : public TaskCheck {
 public:
  std::string id() const override { return "block_scan"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 4095, 4096, 4097, 65537}, 30000))
      all.push_back({fmt::format("n {}", n), {n}});
    const std::int64_t n = measured_elements(r);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t n = at(c.size[0]);
    return {{n * 4}, {n * 4, tiles_of(n) * 4}, workspace_for(c.size[0])};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_bits(as<std::uint32_t>(in[0]), seed); }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    static_assert(kPart % kScanTile == 0);
    const auto x = as<std::uint32_t>(in[0]), got = as<std::uint32_t>(out[0]);
    const auto got_sums = as<std::uint32_t>(out[1]);
    std::vector<std::uint32_t> sums(got_sums.begin(), got_sums.end());  // of parts that are not compared
    using Tally = ExactTally<std::uint32_t>;
    const Verdict v = compare_parts<Tally>(
        got.size(), parts_of(x.size()), 4,
        [&](std::size_t from, std::size_t to, Tally& tally) {
          std::vector<std::uint32_t> expected(kPart);
          for (std::size_t p = from; p < to; ++p) {
            const auto part = part_of(x, p);
            for (std::size_t k = 0; k < part.size(); ++k) {
              std::uint32_t& sum = sums[(p * kPart + k) / kScanTile];
              expected[k] = sum = (k % kScanTile == 0 ? 0 : sum) + part[k];
            }
            tally.add(p * kPart, part_of(got, p), expected.data());
          }
        },
        named("out"), Extent::share);
    if (!v.ok) return v;
    Verdict of_tiles = compare_exact<std::uint32_t>(
        got_sums, [&](std::size_t i) { return sums[i]; }, named("sums"));
    if (!of_tiles.ok) of_tiles.message += "; `out` is right";
    return of_tiles;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4 + std::ceil(n / kScanTile) * 4};
  }
  // A tile of 4096: each of 8 warps writes its sum and reads the sums; two barriers.
  std::vector<Bound> bounds(const Case& c) const override {
    const auto tiles = static_cast<double>(c.size[0]) / kScanTile;
    return {{"shared_requests_over_bound", tiles * 16}, {"barriers_over_bound", tiles * 2}};
  }

 private:
  static std::size_t tiles_of(std::size_t n) { return (n + kScanTile - 1) / kScanTile; }
};

RIDGE_WIDE std::uint32_t sum_of(std::span<const std::uint32_t> x) {
  std::uint32_t sum = 0;
  for (std::uint32_t v : x) sum += v;
  return sum;
}

// Sums that lack their own element, or in which a single element counts more than once. False where neither is so.
bool tell_of_element(Verdict& v, std::span<const std::uint32_t> x, std::span<const std::uint32_t> got) {
  std::uint32_t before = 0;
  bool exclusive = true;
  for (std::size_t i = 0; i < x.size() && exclusive; before += x[i++]) exclusive = got[i] == before;
  if (exclusive)
    v.message += "; each sum lacks its own element: that is an exclusive scan";
  else if (x.size() == 1 && v.message.find(" times") != std::string::npos)
    v.message += ": does a lane without a left neighbour add its own number, which __shfl_up_sync gives it?";
  else
    return false;
  return true;
}

constexpr std::size_t kRunUnit = 256;  // elements: tiles are multiples of a block's

// Where the first wrong sum lacks the elements of some tiles, names them.
void tell_missing_tiles(Verdict& v, std::span<const std::uint32_t> x, std::span<const std::uint32_t> got) {
  std::vector<std::uint32_t> before;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % kRunUnit == 0) before.push_back(sum);
    sum += x[i];
    if (got[i] == sum) continue;
    const auto run = missing_run(before, sum - got[i]);
    if (run && (i + 1 == x.size() || sum + x[i + 1] - got[i + 1] == sum - got[i]))
      v.message += fmt::format("; from here on the sum of elements {} to {} is missing, and nothing else",
                               run->first * kRunUnit, run->second * kRunUnit - 1);
    return;
  }
}

class Scan : public TaskCheck {
 public:
  std::string id() const override { return "scan"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 4097, 65535, 65537}, 300000))
      all.push_back({fmt::format("n {}", n), {n}});
    all.push_back({"n 400009", {400009}});  // tiles that meet sums without prefixes
    const std::int64_t n = measured_elements(r) * (r.backend == Backend::cpu ? 2 : 1);  // enough tiles to look back at
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{at(c.size[0]) * 4}, {at(c.size[0]) * 4}, workspace_for(c.size[0])};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_bits(as<std::uint32_t>(in[0]), seed); }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto x = as<std::uint32_t>(in[0]), got = as<std::uint32_t>(out[0]);
    std::vector<std::uint32_t> before(parts_of(x.size()) + 1);  // each part
    parallel_for(
        before.size() - 1,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t p = from; p < to; ++p) before[p + 1] = sum_of(part_of(x, p));
        },
        4);
    for (std::size_t p = 1; p < before.size(); ++p) before[p] += before[p - 1];
    using Tally = ExactTally<std::uint32_t>;
    Verdict judged = compare_parts<Tally>(
        got.size(), before.size() - 1, 4,
        [&](std::size_t from, std::size_t to, Tally& tally) {
          std::vector<std::uint32_t> sums(kPart);
          for (std::size_t p = from; p < to; ++p) {
            std::uint32_t sum = before[p];
            std::size_t i = 0;
            for (std::uint32_t v : part_of(x, p)) sums[i++] = sum += v;
            tally.add(p * kPart, part_of(got, p), sums.data());
          }
        },
        named("out"));
    if (!judged.ok && !tell_of_element(judged, x, got)) tell_missing_tiles(judged, x, got);
    return judged;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 128}, {"barriers_over_bound", n / 4096 * 3}};
  }
};

// e = exp(x - the largest x), for a row.
struct Exponentials {
  double largest = 0, sum = 0;
};
RIDGE_WIDE Exponentials exponentials(std::span<const float> row, double* e) {
  const float* x = row.data();
  const std::size_t cols = row.size();
  float largest = x[0];
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < cols; ++i) largest = x[i] > largest ? x[i] : largest;
  const double most = largest;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < cols; ++i) {
    e[i] = exp_not_positive(x[i] - most);
    sum += e[i];
  }
  return {most, sum};
}

// Error of the sum of a row's exponentials, in units of the last place. Where all others together are small beside the
// largest, which is 1, each addition to it errs in the same direction: by half a unit at most, and in all by no more than
// the others have.
double ulps_of_sum(double sum, double cols) {
  constexpr double kSmall = 0x1p-18;  // on average, beside 1
  const double independent = 8 + std::sqrt(cols), others = sum - 1;
  if (others > kSmall * cols) return independent;
  return independent + std::min(std::min(cols, kLongestChain) / 2, others / (2 * kUnit));
}

// e as above. An exponent d that is rounded to a float is off by up to |d| units.
RIDGE_WIDE void expect_softmax(std::span<const float> part, const double* e, Exponentials row, double ulps_of_sum,
                               Expecteds& expected) {
  const float* x = part.data();
  const std::size_t count = part.size();
  const double scale = 1 / row.sum;
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) {
    const double d = x[k] - row.largest, y = e[k] * scale;
    expected.set(k, within_ulps(y, y, ulps_of_sum - 2 * d));
  }
}

class Softmax : public TaskCheck {
 public:
  std::string id() const override { return "softmax"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (auto [rows, cols] : tried_matrices(r)) all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}});
    for (auto [rows, cols] : measured_matrices(r))
      all.push_back({fmt::format("{} x {}", rows, cols), {rows, cols}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t bytes = at(c.size[0] * c.size[1]) * 4;
    return {{bytes}, {bytes}, workspace_for(0)};
  }
  // Rows around 0, and around numbers whose exponentials are infinite or 0; some with one element above all others, which
  // may be so far above that only with the true maximum no exponential is infinite.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto x = floats(in[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    parallel_for(
        rows,
        [&](std::size_t from, std::size_t to) {
          static constexpr float around[4] = {0, 300, 0, -300};
          std::vector<float> row(cols);
          for (std::size_t r = from; r < to; ++r) {
            const std::uint64_t kind = random_bits(seed + 1, r);
            fill_normal(row, seed, r * cols);
            scale_and_shift(row, 3, around[kind % 4]);
            static constexpr float above[3] = {20, 200, 0};
            row[kind / 16 % cols] += above[kind / 4 % 3];
            copy_past_caches(x.subspan(r * cols, cols), row.data());
          }
        },
        rows_together(cols));
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto x = floats(in[0]), got = floats(out[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    return compare_parts<CloseTally>(
        got.size(), rows, rows_together(cols),
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          std::vector<double> e(cols);
          Expecteds expected;
          expected.leans = true;  // the sum's error is that of all elements of a row
          for (std::size_t r = from; r < to; ++r) {
            const Exponentials row = exponentials(x.subspan(r * cols, cols), e.data());
            const double of_sum = ulps_of_sum(row.sum, static_cast<double>(cols));
            for (std::size_t col = 0; col < cols; col += kTogether) {
              const std::size_t first = r * cols + col, count = std::min(kTogether, cols - col);
              expect_softmax(x.subspan(first, count), e.data() + col, row, of_sum, expected);
              tally.add(first, got.subspan(first, count), expected);
            }
          }
        },
        in_rows(cols), Extent::share);
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[1]);
    return {n, "element", n * 4, n * 4};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // 32 elements a lane; a warp writes and reads once
    return {{"shared_requests_over_bound", static_cast<double>(c.size[0] * c.size[1]) / 512},
            {"barriers_over_bound", static_cast<double>(c.size[0])}};
  }
};

// Mean and 1 / deviation of a row, and the errors that they may have.
struct Normalized {
  double mean = 0, rstd = 0;
  double mean_error = 0, rstd_error = 0;  // of rstd: relative
};
RIDGE_WIDE Normalized normalized(std::span<const float> row) {
  const float* x = row.data();
  const std::size_t cols = row.size();
  const auto n = static_cast<double>(cols);
  double sum = 0, largest = 0, squares = 0;
#pragma omp simd reduction(+ : sum) reduction(max : largest)
  for (std::size_t i = 0; i < cols; ++i) {
    const double v = x[i], size = std::fabs(v);
    sum += v;
    largest = size > largest ? size : largest;
  }
  const double mean = sum / n;
#pragma omp simd reduction(+ : squares)
  for (std::size_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double sum_error = kUnit * (8 + std::sqrt(n)), rstd = 1 / std::sqrt(squares / n + kEpsilon);
  const double mean_error = sum_error * largest;
  // Welford's way takes deviations from means that are each rounded, independently: at most 2.1 of this term's quarter
  // in 6400 rows of normal values.
  const double moving_mean = 4 * kUnit * largest * rstd / std::sqrt(n);
  return {mean, rstd, mean_error, sum_error + mean_error * rstd * mean_error * rstd + moving_mean};
}

struct Dropout {
  std::uint32_t seed, drop;
  double scale;
  explicit Dropout(const Case& c)
      : seed(static_cast<std::uint32_t>(c.size[2])),
        drop(static_cast<std::uint32_t>(c.size[3])),
        scale(256.0 / (256.0 - drop)) {}
  // dropout_bits of warp_shuffle.hpp, which the judge can't include: it has no CUDA headers.
  std::uint32_t bits(std::uint32_t q) const {
    std::uint32_t h = q * 0x9E3779B1u + seed;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
  }
  bool keeps(std::size_t i) const { return (bits(static_cast<std::uint32_t>(i / 4)) >> (8 * (i % 4)) & 255u) >= drop; }
};

// Adds what is wrong with the dropout alone. `plain`: element i of the norm, before dropout.
template <class Plain>
void tell_dropout(Verdict& v, std::span<const float> got, const Dropout& dropout, Plain plain) {
  constexpr double kNear = 0.02;  // rows whose mean is far larger than their deviation have such errors
  const auto at = [&](std::size_t i) { return got[i]; };
  const bool told =
      tell_variant(v, got.size(), at,
                   {{"that is the norm without dropout", plain},
                    {"the right elements are dropped, and what is kept is not multiplied by 256 / (256 - drop)",
                     [&](std::size_t i) { return dropout.keeps(i) ? plain(i) : 0.0; }}},
                   kNear);
  if (told || dropout.drop == 0) return;
  tell_variant(
      v, v.message.find("; that is the norm") == std::string::npos ? got.size() : 0, at,
      {{"what is kept is right, but other elements are dropped than should be: dropout_bits(seed, i / 4) serves "
        "four elements, and byte i % 4 is that of element i",
        [&](std::size_t i) { return std::fabs(got[i]) < kNear ? double{got[i]} : plain(i) * dropout.scale; }}},
      kNear);
}

inline Expected within(double value, double error) {
  error += 1e-37;
  return {value, error / 2, error, std::fabs(value)};
}

inline Expected as_it_is(double value) { return {value}; }

// Elements `first` ... of the tensor, all of one row.
RIDGE_WIDE void expect_layernorm(std::span<const float> part, const float* gamma, const float* beta, Normalized row,
                                 Dropout dropout, std::size_t first, Expecteds& expected) {
  const float* x = part.data();
  const auto count = static_cast<std::uint32_t>(part.size()), in_four = static_cast<std::uint32_t>(first % 4);
  const auto four = static_cast<std::uint32_t>(first / 4);
#pragma omp simd
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t i = in_four + k;
    const bool keeps = (dropout.bits(four + i / 4) >> (8 * (i % 4)) & 255u) >= dropout.drop;
    const double g = gamma[k], b = beta[k], z = (x[k] - row.mean) * row.rstd;
    const double error = std::fabs(g) * (row.mean_error * row.rstd + std::fabs(z) * (row.rstd_error + 4 * kUnit)) +
                         4 * kUnit * (std::fabs(z * g) + std::fabs(b));
    const double scale = keeps ? dropout.scale : 0;
    expected.set(k, within((z * g + b) * scale, error * scale));
  }
}

class LayerNorm : public TaskCheck {
 public:
  explicit LayerNorm(std::string id) : id_(std::move(id)) {}
  std::string id() const override { return id_; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    std::int64_t k = 0;
    auto add = [&](std::array<std::int64_t, 2> shape, bool measured) {
      static constexpr std::int64_t drops[4] = {26, 0, 128, 255};
      const std::int64_t drop = measured ? 26 : drops[k % 4];
      const auto seed = static_cast<std::int64_t>(random_bits(r.seed, at(++k)) >> 33);
      all.push_back({fmt::format("{} x {}, {} of 256 dropped", shape[0], shape[1], drop),
                     {shape[0], shape[1], seed, drop},
                     measured});
    };
    for (auto shape : tried_matrices(r)) add(shape, false);
    for (auto shape : measured_matrices(r))  // the plain kernel is measured at one length of rows on a GPU, too
      if (r.backend == Backend::cpu || id_ == "layernorm" || shape[1] == 4096) add(shape, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t row = at(c.size[1]) * 4, column = at(c.size[0]) * 4, all = at(c.size[0]) * row;
    return {{all, row, row}, {all, column, column}, workspace_for(0)};
  }
  // Rows around 0, and rows whose mean is 1000 or 3000 times their deviation.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto x = floats(in[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    parallel_for(
        rows,
        [&](std::size_t from, std::size_t to) {
          static constexpr float around[4] = {0, 1000, -30, 5}, spread[4] = {1, 1, 0.01f, 3};
          std::vector<float> row(cols);
          for (std::size_t r = from; r < to; ++r) {
            const std::uint64_t kind = random_bits(seed + 1, r) % 4;
            fill_normal(row, seed, r * cols);
            scale_and_shift(row, spread[kind], around[kind]);
            copy_past_caches(x.subspan(r * cols, cols), row.data());
          }
        },
        rows_together(cols));
    fill_uniform(floats(in[1]), seed + 2);
    fill_uniform(floats(in[2]), seed + 3);
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto x = floats(in[0]), gamma = floats(in[1]), beta = floats(in[2]), got = floats(out[0]);
    const std::size_t rows = at(c.size[0]), cols = at(c.size[1]);
    const Dropout dropout(c);
    std::vector<Normalized> of(rows);
    std::vector<char> compared(rows);  // of a share, others have no numbers here
    Verdict elements = compare_parts<CloseTally>(
        got.size(), rows, rows_together(cols),
        [&](std::size_t from, std::size_t to, CloseTally& tally) {
          Expecteds expected;
          expected.leans = true;  // the errors of mean and rstd are those of all elements of a row
          for (std::size_t r = from; r < to; ++r) {
            of[r] = normalized(x.subspan(r * cols, cols)), compared[r] = 1;
            for (std::size_t col = 0; col < cols; col += kTogether) {
              const std::size_t first = r * cols + col, count = std::min(kTogether, cols - col);
              expect_layernorm(x.subspan(first, count), gamma.data() + col, beta.data() + col, of[r], dropout, first,
                               expected);
              tally.add(first, got.subspan(first, count), expected);
            }
          }
        },
        in_rows(cols), Extent::share);
    Verdict v = compare_close(
        floats(out[1]),
        [&](std::size_t r) { return compared[r] ? within(of[r].mean, of[r].mean_error) : as_it_is(floats(out[1])[r]); },
        named("mean"));
    if (!v.ok) return v;
    v = compare_close(
        floats(out[2]),
        [&](std::size_t r) {
          return compared[r] ? within(of[r].rstd, of[r].rstd * of[r].rstd_error) : as_it_is(floats(out[2])[r]);
        },
        named("rstd"));
    // The mean is right. Where rstd is right, too, in all rows around 0, its terms have cancelled.
    const auto rstd = floats(out[2]);
    bool moved_alone = !v.ok && compares_all();
    for (std::size_t r = 0; r < rows && moved_alone; ++r)
      moved_alone = std::fabs(of[r].mean) * of[r].rstd > 20 || std::fabs(rstd[r] - of[r].rstd) < 1e-3 * of[r].rstd;
    if (moved_alone)
      v.message +=
          "; rstd is wrong only in rows whose mean is far larger than their deviation, and the mean is right: "
          "E[x^2] - E[x]^2 cancels there, the sum of (x - mean)^2 does not";
    tell_dropout(elements, got, dropout, [&](std::size_t i) {
      const Normalized& row = of[i / cols];
      return (x[i] - row.mean) * row.rstd * gamma[i % cols] + beta[i % cols];
    });
    return v.ok ? elements : v;
  }
  Work work(const Case& c) const override {
    const auto rows = static_cast<double>(c.size[0]), cols = static_cast<double>(c.size[1]), n = rows * cols;
    return {n, "element", n * 4 + cols * 8, n * 4 + rows * 8};
  }
  std::vector<Bound> bounds(const Case& c) const override {  // two sums a row; a barrier for each, shared by 4 rows
    return {{"shared_requests_over_bound", static_cast<double>(c.size[0] * c.size[1]) * 48 / 8192},
            {"barriers_over_bound", static_cast<double>(c.size[0]) / 2}};
  }

 private:
  std::string id_;  // layernorm, or layernorm_plain, which has other goals
};

RIDGE_WIDE std::size_t kept_of(std::span<const float> x) {
  std::uint32_t kept = 0;
  for (float v : x) kept += v > 0 ? 1 : 0;
  return kept;
}

// One in 16 becomes zero, and keeps its sign.
RIDGE_WIDE void some_zeros(std::span<float> values, std::size_t first, std::uint64_t seed) {
  float* x = values.data();
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * (random_bits(seed, first + i) % 16 == 0 ? 0.0f : 1.0f);
}

// Where the first wrong element belongs further on: elements that are kept before it were not counted.
void tell_early_place(Verdict& v, std::span<const float> x, std::span<const float> got) {
  std::vector<float> kept;
  std::copy_if(x.begin(), x.end(), std::back_inserter(kept), [](float value) { return value > 0; });
  constexpr std::size_t kSame = 16;  // elements in a row that no chance has in common
  const std::size_t k = std::mismatch(kept.begin(), kept.end(), got.begin()).first - kept.begin();
  if (k + kSame > kept.size()) return;
  const auto wrong = got.subspan(k, kSame);
  const auto place = std::search(kept.begin() + static_cast<std::ptrdiff_t>(k), kept.end(), wrong.begin(), wrong.end());
  if (place == kept.end()) return;
  const std::size_t to = place - kept.begin();
  v.message += fmt::format(
      "; out[{}] holds what belongs into out[{}], so the {} kept elements between were not counted", k, to, to - k);
}

class Compact : public TaskCheck {
 public:
  std::string id() const override { return "compact"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (std::int64_t n : tried(r, {1, 31, 1000, 65535, 65537}, 300000)) all.push_back({fmt::format("n {}", n), {n}});
    all.push_back({"n 5003, all kept", {5003, 1}});
    all.push_back({"n 5003, none kept", {5003, 2}});
    all.push_back({"n 400009", {400009}});
    const std::int64_t n = measured_elements(r) * (r.backend == Backend::cpu ? 2 : 1);
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    return {{at(c.size[0]) * 4}, {at(c.size[0]) * 4, 4}, workspace_for(c.size[0])};
  }
  // Both signs, and zeros of both signs, one in 16, which are not kept.
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto x = floats(in[0]);
    parallel_for(
        parts_of(x.size()),
        [&](std::size_t from, std::size_t to) {
          std::vector<float> made(kPart);
          for (std::size_t p = from; p < to; ++p) {
            const auto part = std::span(made).first(part_of(x, p).size());
            fill_normal(part, seed, p * kPart);
            if (c.size[1] == 0) some_zeros(part, p * kPart, seed + 1);
            if (c.size[1] == 1)
              for (float& v : part) v = std::fabs(v) + 0.125f;
            if (c.size[1] == 2)
              for (float& v : part) v = -std::fabs(v);
            copy_past_caches(part_of(x, p), part.data());
          }
        },
        4);
  }
  std::size_t value_bytes(const Case&, std::size_t) const override { return 4; }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto x = floats(in[0]);
    std::vector<std::size_t> before(parts_of(x.size()) + 1);  // kept elements before each part
    parallel_for(
        before.size() - 1,
        [&](std::size_t from, std::size_t to) {
          for (std::size_t p = from; p < to; ++p) before[p + 1] = kept_of(part_of(x, p));
        },
        4);
    for (std::size_t p = 1; p < before.size(); ++p) before[p] += before[p - 1];
    const std::size_t count = before.back();
    Verdict v = compare_exact(
        as<std::uint32_t>(out[1]), [&](std::size_t) { return static_cast<std::uint32_t>(count); },
        [](std::size_t) { return std::string("count"); });
    if (!v.ok) {
      const auto zeros = static_cast<std::size_t>(std::count(x.begin(), x.end(), 0.0f));
      if (zeros > 0 && as<std::uint32_t>(out[1])[0] == count + zeros)
        v.message += fmt::format("; the input has {} zeros, and they were kept, too", zeros);
      else
        tell_early_place(v, x, floats(out[0]));
      return v;
    }
    const auto got = floats(out[0]).first(count);
    return compare_parts<ExactTally<float>>(
        count, before.size() - 1, 4,
        [&](std::size_t from, std::size_t to, ExactTally<float>& tally) {
          std::vector<float> kept(kPart);
          for (std::size_t p = from; p < to; ++p) {
            std::size_t k = 0;
            for (float value : part_of(x, p)) {
              kept[k] = value;
              k += value > 0 ? 1 : 0;
            }
            tally.add(before[p], got.subspan(before[p], k), kept.data());
          }
        },
        named("out"));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4 * 15 / 32};
  }
  std::vector<Bound> bounds(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {{"shared_requests_over_bound", n / 16}, {"barriers_over_bound", n / 4096 * 3}};
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<Reduce>());
  checks.push_back(std::make_unique<BlockScan>());
  checks.push_back(std::make_unique<Scan>());
  checks.push_back(std::make_unique<Softmax>());
  checks.push_back(std::make_unique<LayerNorm>("layernorm_plain"));
  checks.push_back(std::make_unique<LayerNorm>("layernorm"));
  checks.push_back(std::make_unique<Compact>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("03_warp_shuffle", make);

}  // namespace
