// A sum that lacks a run of its terms, as a tile's prefix does where the tiles before it are not all in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace ridge::lab {

// Units a to b - 1 that sum up to `missing`, modulo 2^32: the run that ends last. `before[u]`: the sum of all units
// before u, one entry more than there are units. Where a wrong sum has nothing to do with units, chance finds a run in
// one of 2^32 / units^2 cases.
inline std::optional<std::pair<std::size_t, std::size_t>> missing_run(std::span<const std::uint32_t> before,
                                                                      std::uint32_t missing) {
  std::unordered_map<std::uint32_t, std::size_t> first;
  for (std::size_t u = 0; u < before.size(); ++u) first.try_emplace(before[u], u);
  for (std::size_t b = before.size(); b-- > 1;)
    if (const auto a = first.find(before[b] - missing); a != first.end() && a->second < b) return {{a->second, b}};
  return {};
}

}  // namespace ridge::lab
