// A step F of MT19937 is linear over bits. Therefore 2^2048 steps are p(F), where p(t) is t^(2^2048) modulo the
// characteristic polynomial of F.
#include "random/jump.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace ridge::simt::random {
namespace {

constexpr unsigned kDegree = 19937, kLimbs = kDegree / 64 + 1;  // 64-bit limbs of a polynomial, lowest power first
using Limbs = std::vector<std::uint64_t>;

std::uint64_t bits_at(const Limbs& p, unsigned at) {
  const std::uint64_t low = p[at / 64] >> (at % 64);
  return at % 64 == 0 ? low : low | p[at / 64 + 1] << (64 - at % 64);
}
void flip_at(Limbs& p, unsigned at, std::uint64_t bits) {
  p[at / 64] ^= bits << (at % 64);
  if (at % 64 != 0) p[at / 64 + 1] ^= bits >> (64 - at % 64);
}

// Massey 1969: the shortest recurrence of one bit of the generator's words, which is the characteristic polynomial.
// Returns the powers of its terms but the highest.
std::vector<unsigned> characteristic_powers() {
  MersenneState state{};
  state[1] = 1;
  Limbs recent(kLimbs + 1), connection(kLimbs + 1), before(kLimbs + 1);
  connection[0] = before[0] = 1;
  unsigned length = 0, gap = 1;
  const auto add_shifted = [](Limbs& to, const Limbs& p, unsigned by) {
    for (std::size_t i = by / 64; i < to.size(); ++i) {
      to[i] ^= p[i - by / 64] << (by % 64);
      if (by % 64 != 0 && i > by / 64) to[i] ^= p[i - by / 64 - 1] >> (64 - by % 64);
    }
  };
  for (unsigned n = 0; n < 2 * kDegree; ++n) {
    if (n % kMersenneWords == 0) mersenne_next(state);
    for (std::size_t i = recent.size() - 1; i > 0; --i) recent[i] = recent[i] << 1 | recent[i - 1] >> 63;
    recent[0] = recent[0] << 1 | (state[n % kMersenneWords] & 1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < recent.size(); ++i) sum ^= recent[i] & connection[i];
    if (std::popcount(sum) % 2 == 0) {
      ++gap;
    } else if (2 * length <= n) {
      const Limbs kept = connection;
      add_shifted(connection, before, gap);
      length = n + 1 - length;
      before = kept;
      gap = 1;
    } else {
      add_shifted(connection, before, gap);
      ++gap;
    }
  }
  std::vector<unsigned> powers;
  for (unsigned i = 1; i <= kDegree; ++i)
    if ((connection[i / 64] >> (i % 64) & 1) != 0) powers.push_back(kDegree - i);
  return powers;
}

Limbs squared(const Limbs& p, const std::vector<unsigned>& powers) {
  Limbs wide(2 * kLimbs + 2);
  for (unsigned i = 0; i < kDegree; ++i) wide[2 * i / 64] |= (p[i / 64] >> (i % 64) & 1) << (2 * i % 64);
  // The second highest power is more than 64 below the highest, so that 64 bits can go at once, from the top.
  for (unsigned at = kDegree + (kDegree - 1) / 64 * 64;; at -= 64) {
    const std::uint64_t bits = bits_at(wide, at);
    if (bits != 0)
      for (const unsigned power : powers) flip_at(wide, at - kDegree + power, bits);
    if (at == kDegree) break;
  }
  wide.resize(kLimbs + 1);
  wide[kDegree / 64] &= (1ull << (kDegree % 64)) - 1;
  wide[kLimbs] = 0;
  return wide;
}

const Limbs& jump_polynomial() {
  static const Limbs polynomial = [] {
    const std::vector<unsigned> powers = characteristic_powers();
    Limbs p(kLimbs + 1);
    p[0] = 2;  // t
    for (int i = 0; i < 2048; ++i) p = squared(p, powers);
    return p;
  }();
  return polynomial;
}

}  // namespace

void mersenne_next(MersenneState& x) {
  for (unsigned i = 0; i < kMersenneWords; ++i) {
    const std::uint32_t y = (x[i] & 0x80000000u) | (x[(i + 1) % kMersenneWords] & 0x7fffffffu);
    x[i] = x[(i + 397) % kMersenneWords] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
  }
}

MersenneState mersenne_jump(const MersenneState& from) {
  const Limbs& p = jump_polynomial();
  std::vector<std::uint32_t> words(from.begin(), from.end());
  MersenneState block = from;
  while (words.size() < kDegree + kMersenneWords) {
    mersenne_next(block);
    words.insert(words.end(), block.begin(), block.end());
  }
  MersenneState sum{};
  for (unsigned i = 0; i < kDegree; ++i) {
    if ((p[i / 64] >> (i % 64) & 1) == 0) continue;
    const std::uint32_t* shifted = words.data() + i;
    for (unsigned w = 0; w < kMersenneWords; ++w) sum[w] ^= shifted[w];
  }
  return sum;
}

}  // namespace ridge::simt::random
