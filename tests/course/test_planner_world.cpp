// Clusters of lab 14's planner: what a submission sees of one does not tell the rest.
#include <cmath>
#include <cstring>

#include "labs/14_parallel_3d/check/world.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;
using parallel_3d::World;

namespace {

// The seed of a splitmix64 stream (checks/fill.hpp) whose value `index` is x: each step of the hash is undone.
std::uint64_t seed_of(std::uint64_t x, std::uint64_t index) {
  auto unshift = [](std::uint64_t z, int n) {
    std::uint64_t y = z;
    for (int i = n; i < 64; i += n) y = z ^ (y >> n);
    return y;
  };
  auto inverse = [](std::uint64_t odd) {  // modulo 2^64, by Newton's iteration
    std::uint64_t y = odd;
    for (int i = 0; i < 6; ++i) y *= 2 - odd * y;
    return y;
  };
  x = unshift(x, 31) * inverse(0x94D049BB133111EBull);
  x = unshift(x, 27) * inverse(0xBF58476D1CE4E5B9ull);
  return unshift(x, 30) - (index + 1) * 0x9E3779B97F4A7C15ull;
}

std::vector<double> numbers(const World& w) {
  const auto& m = w.problem.machine;
  return {m.flops, m.node_bandwidth, m.network_bandwidth};
}
bool same_problem(const World& a, const World& b) {
  const Model &x = a.problem.model, &y = b.problem.model;
  const Machine &p = a.problem.machine, &q = b.problem.machine;
  return std::memcmp(&x, &y, sizeof x) == 0 && p.gpus == q.gpus && p.node == q.node && p.memory == q.memory &&
         numbers(a) == numbers(b) && a.problem.global_batch == b.problem.global_batch;
}

}  // namespace

TEST_CASE("a problem's numbers have three digits, which the simulator takes, too", "[lab14]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const World w(one_way_seed(seed, "digits"), static_cast<int>(seed % 8));
    for (const double x : numbers(w)) {
      const double digits = x / std::pow(10, std::floor(std::log10(x)) - 2);
      CHECK(std::fabs(digits - std::round(digits)) < 1e-9);
    }
    const auto& m = w.problem.machine;
    const auto& fabric = w.cluster.fabric;
    CHECK(std::fabs(w.cluster.gpu.bf16_flops * w.cluster.gpu.product_efficiency / m.flops - 1) < 1e-12);
    CHECK(fabric.node_bandwidth == m.node_bandwidth);
    CHECK(std::fabs(fabric.adapters * fabric.adapter_bandwidth / (m.node * m.network_bandwidth) - 1) < 1e-12);
    CHECK(m.network_bandwidth <= m.node_bandwidth);
  }
}

TEST_CASE("the problem is the same whatever is hidden, and what is hidden changes a step's time", "[lab14]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int number = static_cast<int>(seed % 3);
    const World a(seed, 1000 + seed, number), b(seed, 2000 + seed, number), c(seed + 1, 1000 + seed, number);
    CHECK(same_problem(a, b));
    CHECK(a.cluster.gpu.product_efficiency != b.cluster.gpu.product_efficiency);
    CHECK(a.cluster.gpu.memory_bandwidth != b.cluster.gpu.memory_bandwidth);
    // The other way round: the efficiency is that of the hidden seed, whatever is seen.
    CHECK(a.cluster.gpu.product_efficiency == c.cluster.gpu.product_efficiency);
    const Plan plan = a.plans().front();
    CHECK(a.seconds(plan) != b.seconds(plan));
  }
}

TEST_CASE("a stream's seed, which its values tell, tells neither the secret nor the other stream", "[lab14]") {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t secret = random_bits(14, i), visible = one_way_seed(secret, "visible");
    REQUIRE(seed_of(random_bits(visible, 9), 9) == visible);
    const World world(secret, 1), guessed(visible, visible, 1), from(visible, 1);
    CHECK(same_problem(world, guessed));
    CHECK(world.cluster.gpu.product_efficiency != guessed.cluster.gpu.product_efficiency);
    CHECK(world.cluster.gpu.product_efficiency != from.cluster.gpu.product_efficiency);
  }
}
