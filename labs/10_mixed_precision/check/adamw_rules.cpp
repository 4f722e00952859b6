#include "adamw_rules.hpp"

namespace ridge::lab::mixed_precision {

namespace {

constexpr std::size_t kMost = 1 << 16;  // elements: a measured case on a GPU has many

// 16-bit weights: their unit at w, and whether w is one of them.
double unit_at(double w, bool half) { return half ? std::max(std::fabs(w) * 0x1p-10, 0x1p-24) : std::fabs(w) * 0x1p-7; }
bool is_short(float w, bool half) { return (std::bit_cast<std::uint32_t>(w) & (half ? 0x1FFFu : 0xFFFFu)) == 0; }

std::vector<AdamWRule> suspects(const AdamWProblem& p) {
  std::vector<AdamWRule> all;
  auto add = [&](std::string what) -> AdamWRule& {
    all.emplace_back();
    all.back().what = std::move(what);
    return all.back();
  };
  AdamWRule* r = &add("without bias correction: m is not divided by 1 - beta1^t, and v is not divided by 1 - beta2^t");
  r->corrects_m = r->corrects_v = false;
  add("without the bias correction of m").corrects_m = false;
  add("without the bias correction of v").corrects_v = false;
  add("with t + 1 in place of t in the bias correction: state->updates counts this step already").t_more = 1;
  add("with t - 1 in place of t in the bias correction").t_more = -1;
  add("with epsilon under the square root: it must be added to the root").epsilon = AdamWRule::under_root;
  add("with epsilon added to sqrt(v) before the bias correction of v: it must be added afterwards").epsilon =
      AdamWRule::before_correction;
  add("without weight decay").decay = AdamWRule::nowhere;
  add("with decay * w added to the gradient: it must be added to the step, where nothing divides it by sqrt(v)").decay =
      AdamWRule::in_gradient;
  add("with a weight decay that is not multiplied by the rate").decay = AdamWRule::without_rate;
  add("without unscale: g must be gradient * state->unscale").unscale = AdamWRule::never;
  add("with unscale in the step only: m and v must be made from g = gradient * state->unscale").unscale =
      AdamWRule::of_step;
  add("that makes its update in skipped calls, too: nothing may change where state->skip is 1").skip =
      AdamWRule::ignored;
  add("with g = 0 in skipped calls, in which m, v and w still change: nothing may change where state->skip is 1").skip =
      AdamWRule::zero_gradient;
  add("with beta1 = 0.9 and beta2 = 0.95, and not those of `step`").own_betas = true;
  add("with a step that is added to w: it must be subtracted").sign = 1;
  const char* shorts = p.half ? "fp16" : "bf16";
  add(fmt::format("with new_w rounded to {0}: new_w must keep all bits of fp32, and only weights are {0}", shorts))
      .rounds = true;
  // The starter code's rule.
  r = &add(
      fmt::format("with new_w rounded to {}, without unscale, without bias correction, and with skip ignored", shorts));
  r->rounds = true, r->corrects_m = r->corrects_v = false;
  r->unscale = AdamWRule::never, r->skip = AdamWRule::ignored;
  std::int32_t last = 0;
  for (const LossScale& s : p.states) last = std::max(last, s.updates);
  for (std::int32_t most = 1; most < last; ++most)
    add(fmt::format("with a t that is never above {} in the bias correction: here it grows to {}", most, last)).t_most =
        most;
  return all;
}

}  // namespace

AdamWAnswer::AdamWAnswer(const AdamWProblem& problem, const AdamWRule& rule)
    : p_(problem), rule_(rule), k_(problem.constants) {
  if (rule.own_betas) k_.beta1 = 0.9f, k_.beta2 = 0.95f;
  for (const LossScale& s : p_.states) {
    if (s.skip != 0 && rule.skip == AdamWRule::obeyed) continue;
    const double t = std::min(s.updates + rule.t_more, rule.t_most);
    steps_.push_back({s.skip != 0 && rule.skip == AdamWRule::zero_gradient ? 0 : double{s.unscale},
                      rule.corrects_m ? 1 - std::pow(k_.beta1, t) : 1,
                      rule.corrects_v ? 1 - std::pow(k_.beta2, t) : 1});
  }
}

AdamWAnswer::Element AdamWAnswer::operator()(std::size_t i, Wanted wanted) const {
  const auto moments = floats(p_.in[2]);
  const double scaled = p_.half ? double{floats(p_.in[0])[i]} : static_cast<double>(as<Bf16>(p_.in[0])[i]);
  double ws = floats(p_.in[1])[i], ms = moments[i], vs = moments[padded(p_.n) + i], size_m = std::fabs(ms), moved = 0;
  const auto calls = static_cast<double>(p_.states.size());
  const bool in_gradient = rule_.decay == AdamWRule::in_gradient, in_step = rule_.decay == AdamWRule::in_step;
  for (const Step& s : steps_) {
    const double g =
        scaled * (rule_.unscale == AdamWRule::of_gradient ? s.unscale : 1) + (in_gradient ? k_.decay * ws : 0);
    ms = k_.beta1 * ms + (1 - k_.beta1) * g;
    vs = k_.beta2 * vs + (1 - k_.beta2) * g * g;
    size_m = std::max(size_m, std::fabs(g));
    if (wanted == Wanted::moments && !in_gradient) continue;
    const double m = ms / s.first * (rule_.unscale == AdamWRule::of_step ? s.unscale : 1), v = vs / s.second;
    const double root = rule_.epsilon == AdamWRule::behind_root  ? std::sqrt(v) + k_.epsilon
                        : rule_.epsilon == AdamWRule::under_root ? std::sqrt(v + k_.epsilon)
                                                                 : (std::sqrt(vs) + k_.epsilon) / std::sqrt(s.second);
    const double step = m / root + (in_step ? k_.decay * ws : 0);
    if (rule_.decay == AdamWRule::without_rate) ws -= k_.decay * ws;
    ws += rule_.sign * p_.rate * step;
    moved += p_.rate * (std::fabs(step) + 4);
    if (rule_.rounds) moved += unit_at(ws, p_.half) / within_ulps(0, 8, calls + 2).worst;
  }
  if (steps_.empty()) return {within_ulps(ws, 0, 0), within_ulps(ms, 0, 0), within_ulps(vs, 0, 0)};
  return {within_ulps(ws, std::fabs(ws) + 8 * moved, calls + 2), within_ulps(ms, size_m, calls + 2),
          within_ulps(vs, vs, calls + 4)};
}

bool all_short(std::span<const float> new_w, bool half) {
  return std::all_of(new_w.begin(), new_w.end(), [half](float w) { return is_short(w, half); });
}

std::string rule_behind(const AdamWProblem& problem, std::span<const float> new_w, std::span<const float> new_m,
                        std::span<const float> new_v) {
  const std::size_t n = std::min(problem.n, kMost);
  const AdamWAnswer right(problem, {});
  auto near = [](float got, const Expected& e) { return std::fabs(double{got} - e.value) <= e.worst; };
  auto all_near = [&](const AdamWAnswer& answer, std::size_t i) {
    const AdamWAnswer::Element e = answer(i);
    return near(new_w[i], e.w) && near(new_m[i], e.m) && near(new_v[i], e.v);
  };
  auto first_not_of = [&](const AdamWAnswer& answer) {
    std::size_t i = 0;
    while (i < n && all_near(answer, i)) ++i;
    return i;
  };
  if (first_not_of(right) == n) return {};
  const bool shorts = all_short(new_w.first(n), problem.half);
  for (const AdamWRule& rule : suspects(problem))
    if (rule.rounds == shorts && first_not_of({problem, rule}) == n) return rule.what;
  return {};
}

}  // namespace ridge::lab::mixed_precision
