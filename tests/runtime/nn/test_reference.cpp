// The double-precision GPT of the judge: its gradients are the differences of its loss.
#include <random>

#include "checks/reference.hpp"
#include "support/catch.hpp"

namespace {

struct Model {
  nn::ModelConfig config;
  int B, T;
  nn::ParameterLayout layout = nn::parameter_layout(config);
  nn::reference::Values weights = nn::reference::Values(layout.elements);
  std::vector<int> tokens, targets;
  std::mt19937_64 random{7};

  Model(nn::ModelConfig c, int batch, int sequence) : config(c), B(batch), T(sequence) {
    std::normal_distribution<double> normal;
    for (double& w : weights) w = 0.3 * normal(random);  // larger than at the start: no gradient is near 0
    for (int n = 0; n < B * T; ++n) {
      tokens.push_back(static_cast<int>(random() % static_cast<unsigned>(c.vocabulary)));
      targets.push_back(static_cast<int>(random() % static_cast<unsigned>(c.vocabulary)));
    }
  }
  double loss(std::span<double> gradients = {}) const {
    return nn::reference::loss(config, layout, weights, tokens, targets, B, T, 1.0 / (B * T), gradients);
  }
};

void check_gradients(Model m) {
  std::vector<double> gradients(m.layout.elements, 0);
  const double loss = m.loss(gradients);
  CHECK(loss > 0);
  double norm = 0;
  for (double g : gradients) norm = std::max(norm, std::abs(g));
  REQUIRE(norm > 1e-3);
  const double h = 1e-5;
  for (const nn::Parameter& p : m.layout.parameters)
    for (int k = 0; k < 6; ++k) {
      const std::size_t i = p.offset + m.random() % p.size();
      const double at = m.weights[i];
      m.weights[i] = at + h;
      const double above = m.loss();
      m.weights[i] = at - h;
      const double below = m.loss();
      m.weights[i] = at;
      INFO(p.name << " [" << i - p.offset << "]");
      CHECK(std::abs((above - below) / (2 * h) - gradients[i]) <= 1e-6 * norm);
    }
}

}  // namespace

TEST_CASE("the reference's gradients are its differences") {
  check_gradients(Model({11, 7, 2, 3, 12, true}, 2, 5));
  check_gradients(Model({11, 7, 3, 2, 8, false}, 1, 7));
}

TEST_CASE("the reference adds to gradients, and knows the loss of equal logits") {
  Model m({13, 6, 1, 2, 4, true}, 2, 6);
  std::vector<double> once(m.layout.elements, 0), twice(m.layout.elements, 0);
  m.loss(once), m.loss(twice), m.loss(twice);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(2 * once[i]).margin(1e-12));
  std::fill(m.weights.begin(), m.weights.end(), 0);
  CHECK(m.loss() == Approx(std::log(13.0)));
  m.tokens[3] = 13;
  CHECK_THROWS_AS(m.loss(), std::invalid_argument);
}
