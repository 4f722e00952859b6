// AdamW in double precision: by the contract, and by rules that students follow in its place.
#pragma once
#include <limits>
#include <vector>

#include "common.hpp"

namespace ridge::lab::mixed_precision {

struct AdamWConstants {
  double beta1, beta2, epsilon, decay;
};

// How a step is made. As it stands: by the contract (precision.hpp).
struct AdamWRule {
  std::string what = {};  // the rule in words: "AdamW <what>"
  double t_more = 0, t_most = std::numeric_limits<double>::infinity();
  bool corrects_m = true, corrects_v = true;
  enum { behind_root, under_root, before_correction } epsilon = behind_root;
  enum { in_step, nowhere, in_gradient, without_rate } decay = in_step;
  enum { of_gradient, never, of_step } unscale = of_gradient;
  enum { obeyed, ignored, zero_gradient } skip = obeyed;
  bool own_betas = false;  // 0.9 and 0.95
  bool rounds = false;     // the master weights, to the type of the short ones
  double sign = -1;        // of the step
};

// The inputs of a case.
struct AdamWProblem {
  bool half;  // fp32 gradients and fp16 weights, else bf16 both
  AdamWConstants constants;
  double rate;
  std::span<const LossScale> states;  // of each call
  ConstBuffers in;                    // as the entry gets them
  std::size_t n;
};

// The elements of the answer by a rule.
class AdamWAnswer {
 public:
  struct Element {
    Expected w, m, v;
  };
  AdamWAnswer(const AdamWProblem& problem, const AdamWRule& rule);
  enum class Wanted { all, moments };  // moments: w is not made
  Element operator()(std::size_t i, Wanted wanted = Wanted::all) const;
  bool all_skipped() const { return steps_.empty(); }

 private:
  struct Step {
    double unscale, first, second;  // 1 - beta1^t, 1 - beta2^t
  };
  const AdamWProblem& p_;
  AdamWRule rule_;
  AdamWConstants k_;
  std::vector<Step> steps_;
};

// Whether all are numbers of the short type: fp16 where `half`, else bf16.
bool all_short(std::span<const float> new_w, bool half);
// The rule, in words, that gives new_w, new_m and new_v as they are: none of them need be right. Empty where none is found.
std::string rule_behind(const AdamWProblem& problem, std::span<const float> new_w, std::span<const float> new_m,
                        std::span<const float> new_v);

}  // namespace ridge::lab::mixed_precision
