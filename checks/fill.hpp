// Seeded inputs for check.cpp: hard on wrong answers, fair to right ones. Values have both signs, so that long sums are
// well told apart from sums in a lower precision (tolerance.hpp), and are never zero, so that a missing term is
// noticed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "bf16.hpp"

namespace ridge::lab {

// splitmix64 (Steele, Lea, Flood 2014) as a counter-based generator: value `index` of stream `seed`.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// With `first`: a part of a stream, on this thread: the values from number `first` on.

// Close to N(0, 1): the scaled sum of four uniform 16-bit numbers.
void fill_normal(std::span<float> values, std::uint64_t seed);
void fill_normal(std::span<float> values, std::uint64_t seed, std::size_t first);

// The same times `scale`, rounded to bf16.
void fill_normal(std::span<Bf16> values, std::uint64_t seed, float scale = 1);

// Magnitudes uniform in [low, high), either sign.
void fill_uniform(std::span<float> values, std::uint64_t seed, float low = 0.5f, float high = 1.0f);
void fill_uniform(std::span<float> values, std::uint64_t seed, std::size_t first, float low, float high);

// Magnitudes exp(spread x N(0, 1)), either sign: a spread of 2 covers four decades. It is at most 20.
void fill_lognormal(std::span<float> values, std::uint64_t seed, float spread = 1);
void fill_lognormal(std::span<float> values, std::uint64_t seed, std::size_t first, float spread);

// Integers uniform in [low, high].
void fill_integers(std::span<std::int32_t> values, std::uint64_t seed, std::int32_t low, std::int32_t high);

// values = by x values + shift, on this thread.
void scale_and_shift(std::span<float> values, float by, float shift);

// Any 32 bits.
void fill_bits(std::span<std::uint32_t> values, std::uint64_t seed);
void fill_bits(std::span<std::uint32_t> values, std::uint64_t seed, std::size_t first);

// A size in [low, high] that is no multiple of 32, nor one less or more than one: of no shape that code is written for.
std::int64_t random_size(std::uint64_t seed, std::int64_t low, std::int64_t high);

}  // namespace ridge::lab
