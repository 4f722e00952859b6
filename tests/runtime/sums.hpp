// Sums as honest programs make them in fp32, and as dishonest ones do.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "checks/fill.hpp"

namespace ridge::test {

using Terms = std::vector<float>;

// x to `bits` bits of significand, to nearest even. Exponents are left as they are: fp16's range is not modelled.
inline float rounded(float x, int bits) {
  auto u = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t cut = 24 - static_cast<std::uint32_t>(bits), half = (1u << cut) / 2;
  u += half - 1 + ((u >> cut) & 1);
  return std::bit_cast<float>(u & ~((1u << cut) - 1));
}

inline float forward(const Terms& a, const Terms& b) {
  float s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}
inline float fused(const Terms& a, const Terms& b) {
  float s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s = std::fmaf(a[i], b[i], s);
  return s;
}
inline float reversed(const Terms& a, const Terms& b) {
  float s = 0;
  for (std::size_t i = a.size(); i-- > 0;) s += a[i] * b[i];
  return s;
}
inline float pairwise(const float* a, const float* b, std::size_t n) {
  if (n == 1) return *a * *b;
  return pairwise(a, b, n / 2) + pairwise(a + n / 2, b + n / 2, n - n / 2);
}
inline float blocked(const Terms& a, const Terms& b) {
  float s = 0;
  for (std::size_t first = 0; first < a.size(); first += 128) {
    float part = 0;
    for (std::size_t i = first; i < a.size() && i < first + 128; ++i) part += a[i] * b[i];
    s += part;
  }
  return s;
}
inline float strided(const Terms& a, const Terms& b) {  // as a block of 256 threads does it
  float s = 0;
  for (std::size_t t = 0; t < 256; ++t) {
    float part = 0;
    for (std::size_t i = t; i < a.size(); i += 256) part += a[i] * b[i];
    s += part;
  }
  return s;
}
inline float shuffled(const Terms& a, const Terms& b, std::uint64_t seed) {
  std::vector<std::uint32_t> order(a.size());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[lab::random_bits(seed, i) % i]);
  float s = 0;
  for (std::uint32_t i : order) s += a[i] * b[i];
  return s;
}

struct Way {
  std::string name;
  std::function<float(const Terms&, const Terms&, std::uint64_t seed)> sum;
};

inline std::vector<Way> honest_ways() {
  return {{"forward", [](const Terms& a, const Terms& b, std::uint64_t) { return forward(a, b); }},
          {"fused", [](const Terms& a, const Terms& b, std::uint64_t) { return fused(a, b); }},
          {"reversed", [](const Terms& a, const Terms& b, std::uint64_t) { return reversed(a, b); }},
          {"pairwise",
           [](const Terms& a, const Terms& b, std::uint64_t) { return pairwise(a.data(), b.data(), a.size()); }},
          {"blocked", [](const Terms& a, const Terms& b, std::uint64_t) { return blocked(a, b); }},
          {"strided", [](const Terms& a, const Terms& b, std::uint64_t) { return strided(a, b); }},
          {"random order", shuffled}};
}

inline float with_inputs_of(int bits, const Terms& a, const Terms& b) {
  double s = 0;  // the sum itself is exact: only the inputs are poor
  for (std::size_t i = 0; i < a.size(); ++i) s += double{rounded(a[i], bits)} * double{rounded(b[i], bits)};
  return static_cast<float>(s);
}

inline std::vector<Way> dishonest_ways() {
  return {
      {"TF32 inputs, chopped",
       [](const Terms& a, const Terms& b, std::uint64_t) {
         double s = 0;
         auto chop = [](float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~((1u << 13) - 1)); };
         for (std::size_t i = 0; i < a.size(); ++i) s += double{chop(a[i])} * double{chop(b[i])};
         return static_cast<float>(s);
       }},
      {"TF32 or fp16 inputs", [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(11, a, b); }},
      {"bf16 inputs", [](const Terms& a, const Terms& b, std::uint64_t) { return with_inputs_of(8, a, b); }},
      {"fp16 output", [](const Terms& a, const Terms& b, std::uint64_t) { return rounded(forward(a, b), 11); }},
      {"one left out",
       [](const Terms& a, const Terms& b, std::uint64_t seed) {
         const std::size_t at = lab::random_bits(seed, 3) % a.size();
         return static_cast<float>(double{pairwise(a.data(), b.data(), a.size())} - double{a[at]} * double{b[at]});
       }},
      {"the last left out",
       [](const Terms& a, const Terms& b, std::uint64_t) {
         return forward(Terms(a.begin(), a.end() - 1), Terms(b.begin(), b.end() - 1));
       }},
      {"off by one",
       [](const Terms& a, const Terms& b, std::uint64_t) {
         double s = 0;
         for (std::size_t i = 0; i < a.size(); ++i) s += double{a[i]} * double{b[(i + 1) % b.size()]};
         return static_cast<float>(s) + (a.size() == 1 ? 1.0f : 0.0f);
       }},
      {"zero", [](const Terms&, const Terms&, std::uint64_t) { return 0.0f; }},
      {"the mean, 0.01 of the size",
       [](const Terms& a, const Terms&, std::uint64_t) { return 0.01f * static_cast<float>(a.size()); }}};
}

}  // namespace ridge::test
