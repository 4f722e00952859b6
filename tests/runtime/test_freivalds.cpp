// Freivalds' check: honest products pass, and every way to be wrong fails.
#include <cmath>
#include <limits>
#include <vector>

#include "checks/compare.hpp"
#include "checks/freivalds.hpp"
#include "runtime/sums.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;
using ridge::test::rounded;

namespace {

struct Matrices {
  std::size_t rows, cols, depth;
  std::vector<float> a, b, c, bias;
  Matrices(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed, bool with_bias = false)
      : rows(m), cols(n), depth(k), a(m * k), b(k * n), c(m * n), bias(with_bias ? n : 0) {
    fill_uniform(a, seed);
    fill_uniform(b, seed + 1);
    fill_uniform(bias, seed + 2);
    c = product(24);
  }
  // The product with inputs of that many bits, summed in fp32.
  std::vector<float> product(int bits) const {
    std::vector<float> out(rows * cols);
    std::vector<float> x = a, y = b;
    if (bits < 24) {
      for (float& v : x) v = rounded(v, bits);
      for (float& v : y) v = rounded(v, bits);
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t j = 0; j < cols; ++j) out[i * cols + j] += x[i * depth + k] * y[k * cols + j];
    for (std::size_t i = 0; i < rows && !bias.empty(); ++i)
      for (std::size_t j = 0; j < cols; ++j) out[i * cols + j] += bias[j];
    return out;
  }
  Verdict check(std::uint64_t seed = 0) const {
    return freivalds({a, b, c, bias, rows, cols, depth}, {}, kFreivaldsRounds, seed);
  }
};

bool has(const Verdict& v, const std::string& part) { return v.message.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("honest products pass Freivalds' check") {
  const std::size_t shapes[][3] = {{1, 1, 1}, {3, 5, 7}, {130, 67, 45}, {33, 257, 300}, {1, 500, 900}, {200, 1, 64}};
  for (auto [m, n, k] : shapes)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Matrices p(m, n, k, seed * 100, seed % 2 == 0);
      Verdict v = p.check(seed);
      INFO(m << " x " << n << " x " << k << ": " << v.message);
      CHECK(v.ok);
    }
}

TEST_CASE("a single wrong element is seen wherever it is") {
  Matrices p(150, 170, 190, 1);
  REQUIRE(p.check().ok);
  for (std::uint64_t t = 0; t < 100; ++t) {
    const std::size_t at = random_bits(5, t) % p.c.size();
    const float was = p.c[at];
    p.c[at] = was + 0.01f;  // the elements are of size 8
    Verdict v = p.check(t + 1);
    CHECK(!v.ok);
    CHECK(has(v, "row " + std::to_string(at / p.cols)));
    p.c[at] = t % 2 == 0 ? 0 : -was;
    CHECK(!p.check().ok);
    p.c[at] = 1e30f;  // does not widen its own tolerance enough
    CHECK(!p.check().ok);
    p.c[at] = was;
  }
}

TEST_CASE("errors that cancel in a row are seen by the next round") {
  Matrices p(64, 64, 64, 2);
  for (std::uint64_t t = 0; t < 50; ++t) {
    Matrices q = p;
    const std::size_t row = t % 64 * 64;
    q.c[row + 3] += 0.5f;
    q.c[row + 60] -= 0.5f;
    CHECK(!q.check(t + 1).ok);
    q = p;
    std::swap(q.c[row + 1], q.c[row + 2]);
    CHECK(!q.check(t + 1).ok);
  }
}

TEST_CASE("swapped tiles, transposed and shifted products, NaN and lost bias fail") {
  Matrices p(128, 128, 100, 3, true);
  Matrices q = p;
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = 0; j < 32; ++j) std::swap(q.c[i * 128 + j], q.c[(i + 32) * 128 + j + 64]);
  CHECK(!q.check().ok);
  q = p;
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(q.c[i * 128 + j], q.c[j * 128 + i]);
  CHECK(!q.check().ok);
  q = p;
  for (std::size_t i = 0; i + 1 < q.c.size(); ++i) q.c[i] = p.c[i + 1];
  CHECK(!q.check().ok);
  q = p;
  q.c[77] = std::numeric_limits<float>::quiet_NaN();
  CHECK(has(q.check(), "C[0][77]"));
  q = p;
  q.c.assign(q.c.size(), 0);
  CHECK(!q.check().ok);
  q = p;
  q.bias.clear();
  q.c = q.product(24);
  q.bias = p.bias;
  CHECK(!q.check().ok);
}

TEST_CASE("a product in a lower precision fails Freivalds' check") {
  const std::size_t shapes[][3] = {{33, 65, 40}, {130, 150, 170}, {64, 64, 3000}};
  for (auto [m, n, k] : shapes) {
    Matrices p(m, n, k, 4);
    for (int bits : {8, 11, 16}) {
      p.c = p.product(bits);
      INFO(m << " x " << n << " x " << k << ", " << bits << " bits");
      CHECK(!p.check().ok);
    }
    p.c = p.product(24);
    CHECK(p.check().ok);
    p.depth -= 1;  // as if the last term had been left out
    std::vector<float> a;
    for (std::size_t i = 0; i < m; ++i) a.insert(a.end(), p.a.begin() + i * k, p.a.begin() + (i + 1) * k - 1);
    std::swap(p.a, a);
    p.c = p.product(24);
    p.depth += 1;
    std::swap(p.a, a);
    CHECK(!p.check().ok);
  }
}
