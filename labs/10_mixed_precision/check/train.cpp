// Task `train` of lab 10: a training run, compared with the loss curve of the same model trained in double precision.
#include <array>

#include "common.hpp"
#include "nn/data.hpp"
#include "train_exact.hpp"

namespace ridge::lab::mixed_precision {

namespace {

// Sizes: steps, micro-batches, B, T, C, log2 of the tokens that the gradient's mean is over (0: those of the step), interval, clip
// in thousandths. What is in entry.cu too: V 16, H 2, L 1, rate 1e-2, epsilon 1e-15; betas 0.9 and 0.95, decay 3, or, from an
// interval of 1000 on, others.
class Train : public TaskCheck {
 public:
  std::string id() const override { return "train"; }
  bool host_may_wait() const override { return false; }
  bool host_may_read() const override { return false; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    auto add = [&](std::string name, std::array<std::int64_t, 8> size) { all.push_back({std::move(name), size}); };
    const std::int64_t more = r.mode == Mode::grade ? 4 : 0;
    // The first case is looked at by the sanitizer however long it takes.
    add("three short steps, clipped", {3, 1, 2, 7, 16, 20, 100, 100});
    add("a mean over 2^26 tokens: without a loss scale all gradients are 0", {8 + more, 1, 4, 16, 16, 26, 3, 100000});
    add("a first scale of 2^26: it has to come down", {12 + more, 1, 4, 16, 16, 0, 100, 1000});
    add("other betas and decay", {8 + more, 1, 4, 16, 16, 26, 1003, 100000});
    add("broken batches, two micro-batches, clipped", {8 + more, 2, 3, 13, 24, 20, 2, 100});
    return all;
  }
  Shape shape(const Case& c) const override {
    const std::size_t passes = at(c.size[0] * c.size[1]);
    return {{layout_of(c).elements * 4, passes * 2 * at(c.size[2] * c.size[3]) * 4, passes * 2 * 4, sizeof(LossScale)},
            {at(c.size[0]) * 4, (at(c.size[0]) + 1) * sizeof(LossScale), layout_of(c).elements * 4},
            std::size_t{1} << 16};
  }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    nn::Random random(seed);
    nn::reference::initial_weights(layout_of(c), floats(in[0]), [&] {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += random.uniform();
      return (sum - 2) * std::sqrt(3.0);
    });
    const nn::MarkovSource source(16, 1, seed);
    const auto ints = as<std::int32_t>(in[1]), faults = as<std::int32_t>(in[2]);
    const std::size_t of_batch = at(c.size[2] * c.size[3]);
    for (std::size_t p = 0; p < faults.size() / 2; ++p) {
      const nn::Batch batch = source.sample(static_cast<int>(c.size[2]), static_cast<int>(c.size[3]), random);
      std::copy(batch.tokens.begin(), batch.tokens.end(), ints.begin() + static_cast<std::ptrdiff_t>(p * 2 * of_batch));
      std::copy(batch.targets.begin(), batch.targets.end(),
                ints.begin() + static_cast<std::ptrdiff_t>((p * 2 + 1) * of_batch));
      faults[2 * p] = -1, faults[2 * p + 1] = 0;
      if (c.size[1] > 1 && (p == 2 || p == 5 || random.uniform() < 0.2)) {
        const nn::ParameterLayout l = layout_of(c);
        const nn::Parameter& t = l.parameters[random.below(l.parameters.size())];
        faults[2 * p] = static_cast<std::int32_t>(t.offset + random.below(t.size()));
        faults[2 * p + 1] = random.uniform() < 0.5 ? 0x7F800000 : 0x7FC00000;
      }
    }
    as<LossScale>(in[3])[0] = {first_scale(c), 1, 0, 0, 0};
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto losses = floats(out[0]);
    const auto states = as<LossScale>(out[1]);
    ExactTraining exact(c, in);
    LossScale s = as<LossScale>(in[3])[0];
    for (std::size_t k = 0; k < losses.size(); ++k) {
      const double loss = exact.pass(k);
      if (!(std::fabs(double{losses[k]} - loss) <= tolerance(k)))
        return wrong(
            fmt::format("the loss of step {} is {:.5f}; trained in double precision it is {:.5f}, and "
                        "rounding to fp16 explains a difference of {:.2g}. Before: {}{}",
                        k, losses[k], loss, tolerance(k), history(losses.first(k), states),
                        std::isnan(losses[k]) ? why_nan(k, floats(out[2])) : other_betas(c, in, losses, states, k)),
            "a loss that does not follow the exact one");
      // Gradients of activations are some ten times those of the logits, which are below scale * over.
      const double size = double{s.scale} * exact.over;
      const LossScale& got = states[k + 1];
      const bool must = exact.fault || size > 0x1p17, may = must || size > 0x1p6;
      if ((got.skip != 0 && got.skip != 1) || (got.skip == 0 && must) || (got.skip == 1 && !may))
        return wrong(
            fmt::format(
                "step {} {} skipped: its scale is {}{}", k, got.skip == 0 ? "is not" : "is", s.scale,
                exact.fault ? ", and its gradients hold an inf or a NaN" + place_of_fault(c, in, states, k) : ""),
            got.skip == 0 ? "a broken step that is not skipped" : "a good step that is skipped");
      const double scale = s.scale;
      s = after(s, got.skip == 1, c.size[6] % 1000);
      if (got.scale != s.scale || got.good_steps != s.good_steps || got.updates != s.updates)
        return wrong(fmt::format("after step {}: scale {}, good_steps {}, updates {}; expected {}, {} and {}", k,
                                 got.scale, got.good_steps, got.updates, s.scale, s.good_steps, s.updates),
                     "a state that does not follow from the last one");
      exact.keep(scale);
      if (got.skip == 1) continue;
      const double norm = exact.norm(), factor = std::min(1.0, exact.clip / norm), has = double{got.unscale} * scale;
      if (!(std::fabs(has - factor) <= 0.1 * factor))
        return wrong(fmt::format("step {}: unscale times scale is {:.4g}; the norm is {:.4g}, clip is {:.4g}, so it "
                                 "should be {:.4g}{}",
                                 k, has, norm, exact.clip, factor, why_clipped(exact, in, out, has, scale)),
                     "a gradient that is not clipped as it should be");
      exact.update(factor, s.updates);
    }
    Verdict v = verify_weights(exact, floats(in[0]), floats(out[2]));
    if (v.ok) return v;
    TrainVariant all;
    all.decay_everywhere = true;
    if (verify_weights(run_again(c, in, states, all), floats(in[0]), floats(out[2])).ok)
      v.message +=
          "; they are where training with weight decay for all tensors leads: Tensor::decay says which have it";
    return v;
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(layout_of(c).elements), steps = static_cast<double>(c.size[0]);
    return {steps * n, "element", steps * n * 28, steps * n * 28};
  }

 private:
  static float first_scale(const Case& c) { return c.size[5] == 0 ? 0x1p26f : 0x1p18f; }
  // Of some 60 runs with other seeds (three cases each) the largest difference was 4e-3. It grows with the steps: AdamW makes a step of the same size from a
  // small gradient as from a large one, and the smallest ones are what fp16 rounds.
  static double tolerance(std::size_t k) { return 2e-3 + 1.5e-3 * static_cast<double>(k); }
  // For each tensor: the distance of the weights from the exact ones, over the distance that those have moved.
  static Verdict verify_weights(const ExactTraining& exact, std::span<const float> start, std::span<const float> got) {
    for (const nn::Parameter& t : exact.l.parameters) {
      double off = 0, moved = 0;
      for (std::size_t i = t.offset; i < t.offset + t.size(); ++i) {
        // The bias of the keys adds the same to all scores of a query. Its gradient is 0, and AdamW turns its rounding errors into noise.
        const std::size_t k = i - t.offset, C = t.size() / 3;
        if (t.name == "block0.qkv_b" && k >= C && k < 2 * C) continue;
        off += (double{got[i]} - exact.w[i]) * (double{got[i]} - exact.w[i]);
        moved += (exact.w[i] - double{start[i]}) * (exact.w[i] - double{start[i]});
      }
      if (!(off <= 0.36 * moved))
        return wrong(
            fmt::format("{} ends {:.2f} times as far from its weights after training in double precision as those are "
                        "from the start",
                        t.name, std::sqrt(off / moved)),
            "weights that are not those of exact training");
    }
    return {};
  }
  // Where step k's inf or NaN is, and whether only the last micro-batch's are found.
  static std::string place_of_fault(const Case& c, ConstBuffers in, std::span<const LossScale> states, std::size_t k) {
    const auto faults = as<std::int32_t>(in[2]);
    const std::size_t batches = at(c.size[1]);
    const nn::ParameterLayout l = layout_of(c);
    std::string places;
    std::size_t found_in_last = 0, others = 0;  // others: steps that contradict it
    for (std::size_t step = 0; step < at(c.size[0]); ++step) {
      bool any = false, in_last = false;
      for (std::size_t b = 0; b < batches; ++b) {
        const std::int32_t at_element = faults[2 * (step * batches + b)];
        if (at_element < 0) continue;
        any = true, in_last = b + 1 == batches;
        if (step != k) continue;
        const auto place = static_cast<std::size_t>(at_element);
        for (const nn::Parameter& t : l.parameters)
          if (place >= t.offset && place < t.offset + t.size())
            places += fmt::format("{} micro-batch {} of {} (in the gradient of {})", places.empty() ? "" : " and", b,
                                  batches, t.name);
      }
      if (!any) continue;
      const bool skipped = states[step + 1].skip == 1;
      if (in_last && skipped) ++found_in_last;
      if (in_last != skipped) ++others;
    }
    std::string text = ", from" + places;
    if (found_in_last > 0 && others == 0)
      text += fmt::format(
          ". Of all broken steps only the {} whose last micro-batch is broken are skipped: are the gradients cleared "
          "between micro-batches?",
          found_in_last);
    return text;
  }
  // A run by a variant, with the submission's skips. losses: of the steps that are run; null for all steps.
  static ExactTraining run_again(const Case& c, ConstBuffers in, std::span<const LossScale> states,
                                 const TrainVariant& variant, std::vector<double>* losses = nullptr) {
    ExactTraining run(c, in, variant);
    const std::size_t steps = losses != nullptr ? losses->size() : at(c.size[0]);
    for (std::size_t k = 0; k < steps; ++k) {
      const double loss = run.pass(k);
      if (losses != nullptr) (*losses)[k] = loss;
      if (states[k + 1].skip == 0) run.update(std::min(1.0, run.clip / run.norm()), states[k + 1].updates);
    }
    return run;
  }
  static std::string why_nan(std::size_t k, std::span<const float> weights) {
    if (k == 0) return " (losses holds anything at the call, and is added to)";
    const bool finite = std::all_of(weights.begin(), weights.end(), [](float x) { return std::isfinite(x); });
    return finite ? " (losses holds anything at the call, and is added to: is each step's loss cleared?)"
                  : fmt::format(
                        ". The loss of step {0} is right, and the weights at the end hold an inf or a NaN: the "
                        "update of step {0} broke them. Did AdamW get the new state of this step (unscale, skip, "
                        "updates), or the state before it?",
                        k - 1);
  }
  static std::string other_betas(const Case& c, ConstBuffers in, std::span<const float> losses,
                                 std::span<const LossScale> states, std::size_t k) {
    auto fits = [&](std::optional<double> beta1, std::optional<double> beta2) {
      TrainVariant variant;
      variant.beta1 = beta1, variant.beta2 = beta2;
      std::vector<double> of(k + 1);
      run_again(c, in, states, variant, &of);
      bool alike = true;
      for (std::size_t j = 0; j <= k; ++j) alike = alike && std::fabs(double{losses[j]} - of[j]) <= tolerance(j) / 4;
      return alike;
    };
    if (fits(0.9f, 0.95f))
      return ". The losses are those of training with beta1 = 0.9 and beta2 = 0.95, whatever `options` says";
    const ExactTraining run(c, in);
    const std::array common = {0.9f, 0.95f, 0.99f, 0.999f};
    for (const bool first : {true, false}) {
      std::vector<float> which;
      for (const float beta : common)
        if (first ? fits(beta, {}) : fits({}, beta)) which.push_back(beta);
      const char* name = first ? "beta1" : "beta2";
      if (!which.empty())
        return fmt::format(
            ". The losses do not follow options.{0} = {1:.3g}. Training with a {0} of {2}{3:.3g} in its place gives "
            "them, as exactly as fp16 allows: is it a constant?",
            name, first ? run.beta1() : run.beta2(), which.size() > 1 ? "one of " : "", fmt::join(which, ", "));
    }
    return {};
  }
  // What a factor of clipping that is wrong comes from. has: unscale times scale.
  static std::string why_clipped(const ExactTraining& exact, ConstBuffers in, ConstBuffers out, double has,
                                 double scale) {
    auto is = [&](double factor) { return std::fabs(has - factor) <= 0.02 * factor; };
    const double factor = std::min(1.0, exact.clip / exact.norm());
    if (const auto [still, name] = unmoved(exact, floats(in[0]), floats(out[2])); is(1) && still > 0)
      return fmt::format(
          ". At the end {} of {} tensors, such as {}, are as they were: their gradients are 0 in fp16. Is the gradient "
          "that backward begins with multiplied by the scale (`scale` of forward_backward)?",
          still, exact.l.parameters.size(), name);
    if (is(1)) return ": the gradient is not clipped";
    if (is(factor / scale))
      return ": that is clip over the norm of the gradients with their scale. The norm must be multiplied by unscale "
             "first";
    const double kept = ExactTraining::norm_of(exact.kept) / scale;
    if (std::fabs(kept - exact.norm()) > 0.1 * exact.norm() && is(std::min(1.0, exact.clip / kept)))
      return fmt::format(
          ": your norm is {:.4g}, which is that of the gradients of all steps so far together. Are the "
          "gradients cleared before each step?",
          kept);
    return {};
  }
  // Tensors without weight decay of which no weight has moved: how many, and the first one's name.
  static std::pair<std::size_t, std::string> unmoved(const ExactTraining& exact, std::span<const float> start,
                                                     std::span<const float> got) {
    std::size_t still = 0;
    std::string first;
    for (const nn::Parameter& t : exact.l.parameters) {
      if (t.decay || !std::equal(&start[t.offset], &start[t.offset] + t.size(), &got[t.offset])) continue;
      if (still++ == 0) first = t.name;
    }
    return {still, first};
  }
  static std::string history(std::span<const float> losses, std::span<const LossScale> states) {
    std::string told;
    for (std::size_t k = 0; k < losses.size(); ++k)
      told += fmt::format("{}{:.4f}{}", k == 0 ? "" : ", ", losses[k], states[k + 1].skip != 0 ? " (skipped)" : "");
    return told.empty() ? "nothing" : told;
  }
};

}  // namespace

std::unique_ptr<TaskCheck> train() { return std::make_unique<Train>(); }

}  // namespace ridge::lab::mixed_precision
