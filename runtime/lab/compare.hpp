// Seeded inputs and comparisons for check.cpp, spread over the cores: measured cases hold gigabytes.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "check.hpp"

namespace ridge::lab {

// splitmix64 (Steele, Lea, Flood 2014) as a counter-based generator: value `index` of stream `seed`.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Runs body(first, last) over parts of [0, n) on all cores.
void parallel_for(std::size_t n, const std::function<void(std::size_t, std::size_t)>& body);

// Close to N(0, 1): the scaled sum of four uniform 16-bit numbers. Never zero twice in a row, so that timing and
// verification see no degenerate data.
void fill_normal(std::span<float> values, std::uint64_t seed);

// The span of floats behind a buffer.
inline std::span<float> floats(std::span<std::byte> b) {
  return {reinterpret_cast<float*>(b.data()), b.size() / sizeof(float)};
}
inline std::span<const float> floats(std::span<const std::byte> b) {
  return {reinterpret_cast<const float*>(b.data()), b.size() / sizeof(float)};
}

// Compares bit for bit: element i must equal expected(i). `where(i)` names an element in a message.
template <class Expected>
Verdict compare_exact(std::span<const float> got, Expected expected,
                      const std::function<std::string(std::size_t)>& where);

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, float expected, float got,
                     const std::string& where);

template <class Expected>
Verdict compare_exact(std::span<const float> got, Expected expected,
                      const std::function<std::string(std::size_t)>& where) {
  std::atomic<std::size_t> wrong{0}, first{got.size()};
  parallel_for(got.size(), [&](std::size_t from, std::size_t to) {
    std::size_t count = 0, at = to;
    for (std::size_t i = from; i < to; ++i) {
      const float e = expected(i);
      if (__builtin_bit_cast(std::uint32_t, e) != __builtin_bit_cast(std::uint32_t, got[i])) {
        if (count++ == 0) at = i;
      }
    }
    if (count == 0) return;
    wrong += count;
    std::size_t seen = first.load();
    while (at < seen && !first.compare_exchange_weak(seen, at)) {
    }
  });
  if (wrong == 0) return {};
  return {false, mismatch(first, wrong, got.size(), expected(first), got[first], where(first))};
}

}  // namespace ridge::lab
