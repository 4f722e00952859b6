// A training run of task `train` in double precision: by the contract, or as students do it.
#pragma once
#include <optional>

#include "checks/reference.hpp"
#include "common.hpp"

namespace ridge::lab::mixed_precision {

inline nn::ModelConfig model_of(const Case& c) {
  return {16, static_cast<int>(c.size[3]), 1, 2, static_cast<int>(c.size[4]), true};
}
inline nn::ParameterLayout layout_of(const Case& c) { return nn::parameter_layout(model_of(c)); }

// What students do in place of the contract.
struct TrainVariant {
  bool decay_everywhere = false;
  std::optional<double> beta1 = {}, beta2 = {};
};
// The same run in double precision.
struct ExactTraining {
  ExactTraining(const Case& the_case, ConstBuffers in, const TrainVariant& the_variant = {})
      : c(the_case),
        variant(the_variant),
        config(model_of(c)),
        l(layout_of(c)),
        tokens(as<std::int32_t>(in[1])),
        faults(as<std::int32_t>(in[2])),
        of_batch(at(c.size[2] * c.size[3])),
        own(1 / static_cast<double>(of_batch * at(c.size[1]))),
        over(c.size[5] == 0 ? own : std::ldexp(1.0, -static_cast<int>(c.size[5]))),
        clip(static_cast<double>(c.size[7]) * 1e-3 * over / own),
        m(l.elements),
        v(l.elements),
        g(l.elements) {
    for (float x : floats(in[0])) w.push_back(double{x});
  }
  // All micro-batches of step k: their mean loss; their gradient in g, and whether it has a fault.
  double pass(std::size_t k) {
    double loss = 0;
    fault = false;
    std::fill(g.begin(), g.end(), 0.0);
    for (std::size_t p = k * at(c.size[1]); p < (k + 1) * at(c.size[1]); ++p) {
      const auto batch = tokens.subspan(p * 2 * of_batch, 2 * of_batch);
      loss += own / over *
              nn::reference::loss(config, l, w, batch.first(of_batch), batch.last(of_batch),
                                  static_cast<int>(c.size[2]), static_cast<int>(c.size[3]), over, g);
      fault = fault || faults[2 * p] >= 0;
    }
    return loss;
  }
  double norm() const { return norm_of(g); }
  static double norm_of(const nn::reference::Values& x) {
    double squares = 0;
    for (double y : x) squares += y * y;
    return std::sqrt(squares);
  }
  // Adds the gradients, with their scale, to those of the steps before, as they are where nobody clears them.
  void keep(double scale) {
    kept.resize(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) kept[i] += scale * g[i];
  }
  bool other() const { return c.size[6] >= 1000; }  // betas and decay
  double beta1() const { return variant.beta1.value_or(other() ? 0.5f : 0.9f); }
  double beta2() const { return variant.beta2.value_or(other() ? 0.2f : 0.95f); }
  // AdamW with the gradients times `factor`, for t = updates.
  void update(double factor, int updates) {
    const double rate = 1e-2f, epsilon = 1e-15f, decay = other() ? 6 : 3, beta1 = this->beta1(), beta2 = this->beta2();
    for (const nn::Parameter& t : l.parameters)
      for (std::size_t i = t.offset; i < t.offset + t.size(); ++i) {
        m[i] = beta1 * m[i] + (1 - beta1) * g[i] * factor;
        v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i] * factor * factor;
        const double step =
            m[i] / (1 - std::pow(beta1, updates)) / (std::sqrt(v[i] / (1 - std::pow(beta2, updates))) + epsilon);
        w[i] -= rate * (step + (t.decay || variant.decay_everywhere ? decay * w[i] : 0));
      }
  }

  const Case& c;
  TrainVariant variant;
  nn::ModelConfig config;
  nn::ParameterLayout l;
  std::span<const std::int32_t> tokens, faults;
  std::size_t of_batch;
  double own, over, clip;  // a step's mean loss is over 1 / own tokens, its mean gradient over 1 / over of them
  nn::reference::Values m, v, g, w = {}, kept = {};
  bool fault = false;
};

}  // namespace ridge::lab::mixed_precision
