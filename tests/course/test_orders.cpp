// Sums of rows in the orders that people choose: lab 03's checks must accept them with any inputs.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "grader/build/check_module.hpp"
#include "grader/lab/lab.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

// A task's inputs and outputs of one case.
struct Buffers {
  std::vector<std::vector<std::byte>> in, out;
  explicit Buffers(const lab::Shape& shape) {
    for (std::size_t bytes : shape.in) in.emplace_back(bytes);
    for (std::size_t bytes : shape.out) out.emplace_back(bytes);
  }
  template <class T>
  static std::span<T> as(std::vector<std::byte>& b) {
    return {reinterpret_cast<T*>(b.data()), b.size() / sizeof(T)};
  }
  std::span<float> input(std::size_t i) { return as<float>(in[i]); }
  std::span<float> output(std::size_t i) { return as<float>(out[i]); }
  void fill(const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed) {
    std::vector<std::span<std::byte>> spans(in.begin(), in.end());
    check.fill(c, seed, spans);
  }
  lab::Verdict verdict(const lab::TaskCheck& check, const lab::Case& c) const {
    const std::vector<std::span<const std::byte>> ins(in.begin(), in.end()), outs(out.begin(), out.end());
    return check.verify(c, ins, outs);
  }
};

// The sum of n terms as `threads` threads make it, each with every `threads`-th term, and a tree at the end.
template <class Term>
float strided_sum(std::size_t n, std::size_t threads, Term term) {
  std::vector<float> sums(threads);
  for (std::size_t i = 0; i < n; ++i) sums[i % threads] += term(i);
  for (std::size_t step = threads / 2; step > 0; step /= 2)
    for (std::size_t t = 0; t < step; ++t) sums[t] += sums[t + step];
  return sums[0];
}

void softmax(std::span<const float> x, std::span<float> y, std::size_t threads) {
  const float largest = *std::max_element(x.begin(), x.end());
  const float sum = strided_sum(x.size(), threads, [&](std::size_t i) { return std::exp(x[i] - largest); });
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - largest) / sum;
}

// Without dropout.
void layernorm(Buffers& b, std::size_t row, std::size_t cols, std::size_t threads) {
  const auto x = b.input(0).subspan(row * cols, cols), y = b.output(0).subspan(row * cols, cols);
  const auto n = static_cast<float>(cols);
  const float mean = strided_sum(cols, threads, [&](std::size_t i) { return x[i]; }) / n;
  const float squares = strided_sum(cols, threads, [&](std::size_t i) { return (x[i] - mean) * (x[i] - mean); });
  const float rstd = 1 / std::sqrt(squares / n + 1e-5f);
  b.output(1)[row] = mean;
  b.output(2)[row] = rstd;
  for (std::size_t i = 0; i < cols; ++i) y[i] = (x[i] - mean) * rstd * b.input(1)[i] + b.input(2)[i];
}

const lab::TaskCheck& task(const lab::TaskChecks& checks, const std::string& id) {
  return **std::find_if(checks.begin(), checks.end(), [&](const auto& c) { return c->id() == id; });
}

constexpr std::uint64_t kSeeds = 40;
constexpr std::int64_t kShapes[][2] = {{1, 12288}, {3, 32768}, {2, 9999}};

}  // namespace

TEST_CASE("rows that a few threads add up are right, whatever the inputs") {
  const lab::TaskChecks checks = load_checks(find_lab("03"), [](const std::string&) {});
  const lab::TaskCheck &of_softmax = task(checks, "softmax"), &of_norm = task(checks, "layernorm");
  for (const auto [rows, cols] : kShapes)
    for (const std::size_t threads : {8u, 32u, 512u})  // 8: chains of 4096, the longest that the contract allows
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(rows, cols, threads, seed);
        lab::Case c{"", {rows, cols, 1, 0}};
        const auto n = static_cast<std::size_t>(cols);
        Buffers soft(of_softmax.shape(c)), norm(of_norm.shape(c));
        soft.fill(of_softmax, c, seed);
        norm.fill(of_norm, c, seed);
        for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
          softmax(soft.input(0).subspan(r * n, n), soft.output(0).subspan(r * n, n), threads);
          layernorm(norm, r, n, threads);
        }
        CHECK(soft.verdict(of_softmax, c).message.empty());
        CHECK(norm.verdict(of_norm, c).message.empty());
      }
}

TEST_CASE("a sum of halves is still refused") {
  const lab::TaskChecks checks = load_checks(find_lab("03"), [](const std::string&) {});
  const lab::TaskCheck& check = task(checks, "softmax");
  const lab::Case c{"", {1, 12288}};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Buffers b(check.shape(c));
    b.fill(check, c, seed);
    const auto x = b.input(0), y = b.output(0);
    softmax(x, y, 512);
    for (float& v : y) v *= 1 + 0x1p-10f;  // as a sum that was rounded to 10 bits
    CAPTURE(seed);
    CHECK_FALSE(b.verdict(check, c).ok);
  }
}
