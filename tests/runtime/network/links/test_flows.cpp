// Flows on links: shares by hand, and the property that makes shares max-min fair.
#include <algorithm>
#include <cmath>
#include <random>

#include "network/links/flows.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("flows share a link alike, but for those that another link holds below it") {
  const std::vector<Flow> flows = {{0}, {0, 1}, {1}, {}};
  const std::vector<double> rates = fair_rates({10, 4}, flows);
  CHECK(rates[0] == Approx(8));
  CHECK(rates[1] == Approx(2));
  CHECK(rates[2] == Approx(2));
  CHECK(std::isinf(rates[3]));
}

TEST_CASE("rates are max-min fair: each flow has a full link on which nobody has more") {
  std::mt19937 random(GENERATE(1u, 2u, 3u, 4u, 5u));
  std::vector<double> capacities(23);
  for (double& c : capacities) c = 1 + static_cast<double>(random() % 1000);
  std::vector<Flow> flows(137);
  for (Flow& f : flows) {
    std::vector<std::int32_t> all(capacities.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    std::shuffle(all.begin(), all.end(), random);
    f.assign(all.begin(), all.begin() + 1 + static_cast<int>(random() % 5));
  }
  const std::vector<double> rates = fair_rates(capacities, flows);
  std::vector<double> carried(capacities.size(), 0), most(capacities.size(), 0);
  for (std::size_t f = 0; f < flows.size(); ++f)
    for (std::int32_t l : flows[f]) {
      carried[static_cast<std::size_t>(l)] += rates[f];
      most[static_cast<std::size_t>(l)] = std::max(most[static_cast<std::size_t>(l)], rates[f]);
    }
  for (std::size_t l = 0; l < capacities.size(); ++l) CHECK(carried[l] <= capacities[l] * (1 + 1e-9));
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const bool held = std::any_of(flows[f].begin(), flows[f].end(), [&](std::int32_t l) {
      const auto i = static_cast<std::size_t>(l);
      return carried[i] >= capacities[i] * (1 - 1e-9) && rates[f] >= most[i] * (1 - 1e-9);
    });
    INFO("flow " << f);
    CHECK(held);
  }
}
