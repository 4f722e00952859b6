#include "fill.hpp"

#include <bit>
#include <cmath>

#include "compare.hpp"
#include "stream.hpp"
#include "wide.hpp"

namespace ridge::lab {

namespace {

// make(values, first, seed) makes values number first, first + 1, ...
template <class T, class Make>
void fill_parts(std::span<T> values, std::uint64_t seed, Make make) {
  parallel_for(values.size(),
               [&](std::size_t from, std::size_t to) { make(values.subspan(from, to - from), from, seed); });
}

// Words of 32 bits, for eight of which a 64-bit multiplication would make four: a block of the stream has a key of
// random_bits, and its words are Wellons's mixed counters (github.com/skeeto/hash-prospector).
constexpr std::size_t kBlock = 1024;

inline std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x21F0AAADu;
  x = (x ^ (x >> 15)) * 0x735A2D97u;
  return x ^ (x >> 15);
}
// Of a block. One word alone would tell the half that made it, and so all others: a sum of two does not.
struct Key {
  std::uint32_t one, other;
  Key(std::uint64_t seed, std::size_t block) {
    const std::uint64_t bits = random_bits(seed, block);
    one = static_cast<std::uint32_t>(bits), other = static_cast<std::uint32_t>(bits >> 32);
  }
  std::uint32_t first(std::uint32_t i) const { return mixed(one + i); }
  std::uint32_t second(std::uint32_t i) const { return mixed(other + i); }
  std::uint32_t word(std::uint32_t i) const { return first(i) + second(i); }
};

// make(values, key, from) makes the values number from, from + 1, ... of a block; `first` is the whole stream's number.
template <class T, class Make>
void by_block(std::span<T> values, std::size_t first, std::uint64_t seed, Make make) {
  const bool many = values.size_bytes() >= std::size_t{1} << 20;
  T made[kBlock];
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t block = (first + i) / kBlock, from = (first + i) % kBlock;
    const std::size_t count = std::min(values.size() - i, kBlock - from);
    make(many ? made : values.data() + i, static_cast<std::uint32_t>(count), Key(seed, block),
         static_cast<std::uint32_t>(from));
    if (many) copy_past_caches(values.subspan(i, count), made);
    i += count;
  }
}

// The sum of four uniform numbers of 16 bits: mean 131070, variance 4 x (65536^2 - 1) / 12. It is odd after doubling,
// and so never 0.
inline float normal(std::uint32_t a, std::uint32_t b) {
  const auto sum = static_cast<std::int32_t>((a & 0xFFFF) + (a >> 16) + (b & 0xFFFF) + (b >> 16));
  return static_cast<float>(2 * sum - 262139) * 1.32144265e-5f;
}
// exp(x), for |x| < 87; for |x| < 16 within some 1e-6 of it relatively.
inline float exponential(float x) {
  constexpr float shift = 0x1.8p23f;  // added to it, a number is rounded, and stands in the lowest bits
  const float shifted = x * 1.44269504f + shift, r = x - (shifted - shift) * 0.693147181f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1;
  p = p * r + 1;
  return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127) << 23);
}

inline float with_sign(float magnitude, std::uint32_t bit) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) ^ bit << 31);
}

RIDGE_WIDE void normals(float* to, std::uint32_t n, Key key, std::uint32_t from) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t k = from + i;
    to[i] = normal(key.first(k), key.second(k));
  }
}

RIDGE_WIDE void normals_bf16(Bf16* to, std::uint32_t n, Key key, std::uint32_t from, float scale) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t k = from + i;
    to[i] = rounded(normal(key.first(k), key.second(k)) * scale);
  }
}

RIDGE_WIDE void lognormals(float* to, std::uint32_t n, Key key, std::uint32_t from, float spread) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t k = from + i, a = key.first(k), b = key.second(k);
    to[i] = with_sign(exponential(spread * normal(a, b)), ((a ^ b << 1) * 0xC2B2AE35u) >> 31);
  }
}

// The lowest bit gives the sign, the upper 24 the rest.
RIDGE_WIDE void uniforms(float* to, std::uint32_t n, Key key, std::uint32_t from, float low, float width, float last) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t r = key.word(from + i);
    const float size = low + width * (static_cast<float>(static_cast<std::int32_t>(r >> 8)) * 0x1p-24f);
    to[i] = with_sign(size < last ? size : last, r & 1);
  }
}

RIDGE_WIDE void integers(std::int32_t* to, std::uint32_t n, Key key, std::uint32_t from, std::int32_t low,
                         std::uint64_t count) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint64_t r = key.word(from + i);
    to[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(low) + static_cast<std::uint32_t>(r * count >> 32));
  }
}

RIDGE_WIDE void words(std::uint32_t* to, std::uint32_t n, Key key, std::uint32_t from) {
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) to[i] = key.word(from + i);
}

}  // namespace

void fill_normal(std::span<float> values, std::uint64_t seed) {
  fill_parts(values, seed,
             [](std::span<float> part, std::size_t first, std::uint64_t s) { fill_normal(part, s, first); });
}

void fill_normal(std::span<float> values, std::uint64_t seed, std::size_t first) {
  by_block(values, first, seed, normals);
}

void fill_normal(std::span<Bf16> values, std::uint64_t seed, float scale) {
  fill_parts(values, seed, [scale](std::span<Bf16> part, std::size_t first, std::uint64_t s) {
    by_block(part, first, s, [scale](Bf16* to, std::uint32_t n, Key key, std::uint32_t from) {
      normals_bf16(to, n, key, from, scale);
    });
  });
}

void fill_uniform(std::span<float> values, std::uint64_t seed, float low, float high) {
  fill_parts(values, seed, [=](std::span<float> part, std::size_t first, std::uint64_t s) {
    fill_uniform(part, s, first, low, high);
  });
}

void fill_uniform(std::span<float> values, std::uint64_t seed, std::size_t first, float low, float high) {
  const float width = high - low, last = std::nextafter(high, low);
  by_block(values, first, seed, [=](float* to, std::uint32_t n, Key key, std::uint32_t from) {
    uniforms(to, n, key, from, low, width, last);
  });
}

void fill_lognormal(std::span<float> values, std::uint64_t seed, float spread) {
  fill_parts(values, seed, [=](std::span<float> part, std::size_t first, std::uint64_t s) {
    fill_lognormal(part, s, first, spread);
  });
}

void fill_lognormal(std::span<float> values, std::uint64_t seed, std::size_t first, float spread) {
  by_block(values, first, seed,
           [=](float* to, std::uint32_t n, Key key, std::uint32_t from) { lognormals(to, n, key, from, spread); });
}

void fill_integers(std::span<std::int32_t> values, std::uint64_t seed, std::int32_t low, std::int32_t high) {
  const auto count = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
  fill_parts(values, seed, [=](std::span<std::int32_t> part, std::size_t first, std::uint64_t s) {
    by_block(part, first, s, [=](std::int32_t* to, std::uint32_t n, Key key, std::uint32_t from) {
      integers(to, n, key, from, low, count);
    });
  });
}

RIDGE_WIDE void scale_and_shift(std::span<float> values, float by, float shift) {
  for (float& v : values) v = by * v + shift;
}

void fill_bits(std::span<std::uint32_t> values, std::uint64_t seed) {
  fill_parts(values, seed,
             [](std::span<std::uint32_t> part, std::size_t first, std::uint64_t s) { fill_bits(part, s, first); });
}

void fill_bits(std::span<std::uint32_t> values, std::uint64_t seed, std::size_t first) {
  by_block(values, first, seed, words);
}

std::int64_t random_size(std::uint64_t seed, std::int64_t low, std::int64_t high) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto size = low + static_cast<std::int64_t>(random_bits(seed, i) % static_cast<std::uint64_t>(high - low + 1));
    if (const auto rest = size % 32; rest > 1 && rest < 31) return size;
  }
  return high;  // no such size there
}

}  // namespace ridge::lab
