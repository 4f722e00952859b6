// Mistakes that are often made, as answers: where a wrong answer is the one that a mistake gives, the message says so.
#pragma once
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"

namespace ridge::lab {

struct Variant {
  std::string told;                          // "the weights are mirrored"
  std::function<double(std::size_t)> value;  // element i of that answer
};

constexpr std::size_t kMostVaried = 1 << 15;  // elements

// Adds the first variant that all `total` elements of the answer have to the message of `v`. `near`: how far an element
// may be from it, of the size of a usual element, which `scale` gives; an infinity is only itself, and a NaN any NaN.
// False where nothing was added.
template <class Got>
bool tell_variant(Verdict& v, std::size_t total, Got got, const std::vector<Variant>& variants, double near,
                  double scale = 1) {
  if (v.ok || total > kMostVaried) return false;
  for (const Variant& variant : variants) {
    bool all = total > 0;
    for (std::size_t i = 0; i < total && all; ++i) {
      const double value = variant.value(i), has = static_cast<double>(got(i));
      all = has == value || (std::isnan(has) && std::isnan(value)) ||
            (std::isfinite(value) && std::fabs(has - value) <= near * (scale + std::fabs(value)));
    }
    if (!all) continue;
    v.message += "; " + variant.told;
    return true;
  }
  return false;
}

}  // namespace ridge::lab
