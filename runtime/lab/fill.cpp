#include "fill.hpp"

#include <cmath>

#include "compare.hpp"

namespace ridge::lab {

namespace {

// fills(i, bits) makes value i from 64 random bits.
template <class T, class Make>
void fill_each(std::span<T> values, std::uint64_t seed, Make make) {
  parallel_for(values.size(), [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) values[i] = make(random_bits(seed, i));
  });
}

// Mean 2 x 65535, variance 4 x (65536^2 - 1) / 12.
float normal(std::uint64_t r) {
  auto sum = static_cast<std::int64_t>((r & 0xFFFF) + (r >> 16 & 0xFFFF) + (r >> 32 & 0xFFFF) + (r >> 48));
  return static_cast<float>(sum - 131070) * 2.6428853e-5f;
}

// The lowest bit gives the sign, the upper 53 the rest.
double uniform(std::uint64_t r) { return static_cast<double>(r >> 11) * 0x1p-53; }
float with_sign(double magnitude, std::uint64_t r) { return static_cast<float>((r & 1) != 0 ? -magnitude : magnitude); }

}  // namespace

void fill_normal(std::span<float> values, std::uint64_t seed) { fill_each(values, seed, normal); }

void fill_uniform(std::span<float> values, std::uint64_t seed, float low, float high) {
  fill_each(values, seed, [=](std::uint64_t r) {
    return with_sign(std::min(low + (double{high} - low) * uniform(r), double{std::nextafter(high, low)}), r);
  });
}

void fill_lognormal(std::span<float> values, std::uint64_t seed, double spread) {
  fill_each(values, seed,
            [=](std::uint64_t r) { return with_sign(std::exp(spread * double{normal(r)}), random_bits(r, 0)); });
}

void fill_integers(std::span<std::int32_t> values, std::uint64_t seed, std::int32_t low, std::int32_t high) {
  const auto count = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
  fill_each(values, seed, [=](std::uint64_t r) {
    return static_cast<std::int32_t>(low + static_cast<std::int64_t>((r >> 32) * count >> 32));
  });
}

std::int64_t random_size(std::uint64_t seed, std::int64_t low, std::int64_t high) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto size = low + static_cast<std::int64_t>(random_bits(seed, i) % static_cast<std::uint64_t>(high - low + 1));
    if (const auto rest = size % 32; rest > 1 && rest < 31) return size;
  }
  return high;  // no such size there
}

}  // namespace ridge::lab
