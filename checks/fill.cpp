#include "fill.hpp"

#include <bit>
#include <cmath>

#include "compare.hpp"
#include "wide.hpp"

namespace ridge::lab {

namespace {

// make(values, first, seed) makes values number first, first + 1, ...
template <class T, class Make>
void fill_parts(std::span<T> values, std::uint64_t seed, Make make) {
  parallel_for(values.size(),
               [&](std::size_t from, std::size_t to) { make(values.subspan(from, to - from), from, seed); });
}

// Mean 2 x 65535, variance 4 x (65536^2 - 1) / 12.
inline float normal(std::uint64_t r) {
  const auto sum = static_cast<std::int32_t>((r & 0xFFFF) + (r >> 16 & 0xFFFF) + (r >> 32 & 0xFFFF) + (r >> 48));
  return static_cast<float>(sum - 131070) * 2.6428853e-5f;
}

// The lowest bit gives the sign, the upper 53 the rest.
inline double uniform(std::uint64_t r) { return static_cast<double>(static_cast<std::int64_t>(r >> 11)) * 0x1p-53; }
inline float with_sign(double magnitude, std::uint64_t r) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
  return std::bit_cast<float>(bits ^ static_cast<std::uint32_t>(r << 31));
}

RIDGE_WIDE void normals(std::span<float> values, std::size_t first, std::uint64_t seed) {
  float* to = values.data();
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) to[i] = normal(random_bits(seed, first + i));
}

RIDGE_WIDE void uniforms(std::span<float> values, std::size_t first, std::uint64_t seed, double low, double width,
                         double last) {
  float* to = values.data();
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t r = random_bits(seed, first + i);
    to[i] = with_sign(std::min(low + width * uniform(r), last), r);
  }
}

RIDGE_WIDE void numbers(std::span<std::uint32_t> values, std::size_t first, std::uint64_t seed) {
  std::uint32_t* to = values.data();
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::uint32_t>(random_bits(seed, first + i));
}

}  // namespace

void fill_normal(std::span<float> values, std::uint64_t seed) { fill_parts(values, seed, normals); }

void fill_normal(std::span<float> values, std::uint64_t seed, std::size_t first) { normals(values, first, seed); }

void fill_uniform(std::span<float> values, std::uint64_t seed, float low, float high) {
  const double width = double{high} - low, last = std::nextafter(high, low);
  fill_parts(values, seed, [=](std::span<float> part, std::size_t first, std::uint64_t s) {
    uniforms(part, first, s, low, width, last);
  });
}

void fill_lognormal(std::span<float> values, std::uint64_t seed, double spread) {
  fill_parts(values, seed, [=](std::span<float> part, std::size_t first, std::uint64_t s) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::uint64_t r = random_bits(s, first + i);
      part[i] = with_sign(std::exp(spread * double{normal(r)}), random_bits(r, 0));
    }
  });
}

void fill_integers(std::span<std::int32_t> values, std::uint64_t seed, std::int32_t low, std::int32_t high) {
  const auto count = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
  fill_parts(values, seed, [=](std::span<std::int32_t> part, std::size_t first, std::uint64_t s) {
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i] =
          static_cast<std::int32_t>(low + static_cast<std::int64_t>((random_bits(s, first + i) >> 32) * count >> 32));
  });
}

RIDGE_WIDE void scale_and_shift(std::span<float> values, float by, float shift) {
  for (float& v : values) v = by * v + shift;
}

void fill_bits(std::span<std::uint32_t> values, std::uint64_t seed) { fill_parts(values, seed, numbers); }

std::int64_t random_size(std::uint64_t seed, std::int64_t low, std::int64_t high) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto size = low + static_cast<std::int64_t>(random_bits(seed, i) % static_cast<std::uint64_t>(high - low + 1));
    if (const auto rest = size % 32; rest > 1 && rest < 31) return size;
  }
  return high;  // no such size there
}

}  // namespace ridge::lab
