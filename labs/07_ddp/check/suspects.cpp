// Wrong answers that students compute in place of the gradient of all ranks, so that an error message can name them.
#include <fmt/format.h>

#include <cmath>

#include "common.hpp"

namespace ridge::lab::ddp {

std::string found(std::span<const float> got, const std::function<Expected(std::size_t)>& right,
                  const std::vector<Suspect>& suspects, const Where& where) {
  auto near = [](double x, double value, const Expected& e) {
    // An error of the suspect's own size.
    const double scale = 1 + std::fabs(value) / std::max(std::fabs(e.value), e.deviation);
    return std::fabs(x - value) <= e.worst * scale;
  };
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Expected e = right(i);
    if (!(std::fabs(got[i] - e.value) <= e.worst)) wrong.push_back(i);
  }
  for (const Suspect& s : suspects) {
    std::size_t alike = 0;
    for (std::size_t i : wrong) {
      const Expected e = right(i);
      const double value = s.value(i);
      alike += near(got[i], value, e) && std::fabs(value - e.value) > e.worst;
    }
    if (wrong.size() < 4 || alike < wrong.size() - wrong.size() / 20) continue;
    const bool suffix = wrong.front() > 0 && wrong.size() > (got.size() - wrong.front()) / 2;
    const std::string first = where(wrong.front());
    const std::size_t name = first.find("which is ");
    return fmt::format("; the wrong elements{} are {}", suffix ? ", from " + first.substr(name + 9) + " on," : "",
                       s.what);
  }
  return {};
}

Verdict compare_with(std::span<const float> got, const std::function<Expected(std::size_t)>& right, const Where& where,
                     const std::function<std::vector<Suspect>()>& suspects) {
  Verdict v = compare_close<float>(got, right, where);
  constexpr std::size_t kMost = 1 << 22;  // elements: a measured case on a GPU takes seconds for each suspect
  if (v.ok || got.size() > kMost) return v;
  const std::string what = found(got, right, suspects(), where);
  if (what.empty()) return v;
  // Replaces the message of the comparison.
  const std::size_t wrong = v.message.find(" are wrong");
  if (wrong != std::string::npos) v.message.resize(wrong + 10);
  v.message += what;
  return v;
}

Verdict Training::verify_gradient(const Case& c, const Gradient& g, ConstBuffers in, std::size_t ins,
                                  std::span<const float> got, std::size_t rank) {
  auto suspects = [&]() -> std::vector<Suspect> {
    const auto all = static_cast<double>(c.size[5]), p = static_cast<double>(c.ranks);
    using Parts = std::vector<std::vector<double>>;
    const auto own = std::make_shared<const Parts>(parts(c, in, ins, false));
    auto sum = [](std::shared_ptr<const Parts> of, std::vector<double> factors) {
      return [of, factors](std::size_t i) {
        double x = 0;
        for (std::size_t r = 0; r < of->size(); ++r) x += factors[r] * (*of)[r][i];
        return x;
      };
    };
    std::vector<double> ones(own->size(), 1.0), means, only(own->size());
    for (int r = 0; r < c.ranks; ++r) means.push_back(all / static_cast<double>(sequences(c, r)));
    only[rank] = 1;
    std::vector<double> own_mean = only, mean_of_means = means, averaged = ones;
    own_mean[rank] = means[rank];
    for (double& x : mean_of_means) x /= p;
    for (double& x : averaged) x /= p;
    std::vector<Suspect> list;
    if (c.ranks > 1) {
      list = {{"this rank's own part: it was read before the sum was there, or never summed", sum(own, only)},
              {"the mean over this rank's own tokens: nothing of the others is in it", sum(own, own_mean)},
              {"the ranks' means, averaged: ranks with fewer tokens count too much; divide by all_tokens, and sum",
               sum(own, mean_of_means)},
              {"the sum of the ranks' means: divide by all_tokens, not by the rank's own", sum(own, means)},
              {"those of the sum divided by the number of ranks: all_tokens are those of all ranks already",
               sum(own, averaged)}};
    }
    if (c.size[6] > 1) {
      for (int i = 0; i < c.size[6]; ++i)
        list.push_back({fmt::format("those of micro-batch {} alone: {}", i,
                                    i + 1 == c.size[6] ? "the gradients of those before it were cleared"
                                                       : "the others were not computed, or not added"),
                        sum(std::make_shared<const Parts>(parts(c, in, ins, false, i)), ones)});
    }
    const auto first_of = [&](int r) { return floats(in[static_cast<std::size_t>(r) * ins]); };
    bool other_weights = false;
    for (int r = 1; r < c.ranks; ++r) other_weights = other_weights || first_of(r)[0] != first_of(0)[0];
    if (other_weights) {
      const auto before = std::make_shared<const Parts>(parts(c, in, ins, true));
      list.push_back(
          {"the sum of gradients at different weights: each rank took its own, not rank 0's", sum(before, ones)});
    }
    return list;
  };
  return compare_with(
      got, [&](std::size_t i) { return expected(g.value[i], g.deviation[i], std::fabs(g.value[i])); },
      where(c, "gradients", rank), suspects);
}

}  // namespace ridge::lab::ddp
