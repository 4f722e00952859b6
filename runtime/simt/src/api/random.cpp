// Jumps of XORWOW and MRG32k3a: their steps are linear, so n steps are the n-th power of a matrix.
#include "ridge_simt/random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernel/warp_operations.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace {

// 160 x 160 bits: column i is what the state becomes whose only bit is i. A state is five words.
using Words = std::array<std::uint32_t, 5>;
using BitMatrix = std::array<Words, 160>;

Words times(const BitMatrix& m, const Words& v) {
  Words out{};
  for (unsigned i = 0; i < 160; ++i)
    if ((v[i / 32] >> (i % 32) & 1) != 0)
      for (unsigned w = 0; w < 5; ++w) out[w] ^= m[i][w];
  return out;
}

Words step(const Words& v) {
  const std::uint32_t t = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], (v[4] ^ v[4] << 4) ^ (t ^ t << 1)};
}

// The matrix of 2^k steps. Made once, as far as asked for.
const BitMatrix& xorwow_power(unsigned k) {
  static std::mutex mutex;
  static auto* powers = new std::vector<BitMatrix*>;
  std::lock_guard lock(mutex);
  while (powers->size() <= k) {
    auto* next = new BitMatrix;
    for (unsigned i = 0; i < 160; ++i) {
      Words bit{};
      bit[i / 32] = 1u << (i % 32);
      (*next)[i] = powers->empty() ? step(bit) : times(*powers->back(), times(*powers->back(), bit));
    }
    powers->push_back(next);
  }
  return *(*powers)[k];
}

constexpr unsigned kXorwowSubsequence = 67;  // 2^67 numbers
constexpr std::uint32_t kWeyl = 362437;

using Matrix = std::array<std::array<std::uint64_t, 3>, 3>;
constexpr std::uint64_t kMod1 = 4294967087ull, kMod2 = 4294944443ull;
constexpr Matrix kStep1 = {{{0, 1, 0}, {0, 0, 1}, {kMod1 - 810728, 1403580, 0}}};
constexpr Matrix kStep2 = {{{0, 1, 0}, {0, 0, 1}, {kMod2 - 1370589, 0, 527612}}};

Matrix times(const Matrix& a, const Matrix& b, std::uint64_t mod) {
  Matrix c{};
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned j = 0; j < 3; ++j) {
      std::uint64_t sum = 0;
      for (unsigned k = 0; k < 3; ++k) sum = (sum + a[i][k] * b[k][j] % mod) % mod;
      c[i][j] = sum;
    }
  return c;
}

// The matrices of 2^k steps, k < 192, of either recurrence.
struct Powers {
  std::array<Matrix, 192> first, second;
  Powers() {
    first[0] = kStep1;
    second[0] = kStep2;
    for (std::size_t k = 1; k < first.size(); ++k) {
      first[k] = times(first[k - 1], first[k - 1], kMod1);
      second[k] = times(second[k - 1], second[k - 1], kMod2);
    }
  }
};

void apply(const Matrix& m, std::uint64_t mod, unsigned* v) {
  std::uint64_t out[3];
  for (unsigned i = 0; i < 3; ++i) out[i] = (m[i][0] * v[0] % mod + m[i][1] * v[1] % mod + m[i][2] * v[2] % mod) % mod;
  for (unsigned i = 0; i < 3; ++i) v[i] = static_cast<unsigned>(out[i]);
}

// n * 2^shift steps.
void advance(unsigned shift, unsigned long long n, unsigned (&state)[6]) {
  static const auto* powers = new Powers;
  for (unsigned k = shift; n != 0 && k < powers->first.size(); ++k, n >>= 1)
    if ((n & 1) != 0) {
      apply(powers->first[k], kMod1, state);
      apply(powers->second[k], kMod2, state + 3);
    }
}

}  // namespace

namespace ridge_simt {

static void skip(unsigned long long subsequences, unsigned long long numbers, unsigned (&state)[6]) {
  Words v;
  for (unsigned i = 0; i < 5; ++i) v[i] = state[i + 1];
  for (unsigned k = 0; k < 64; ++k) {
    if ((subsequences >> k & 1) != 0) v = times(xorwow_power(kXorwowSubsequence + k), v);
    if ((numbers >> k & 1) != 0) v = times(xorwow_power(k), v);
  }
  for (unsigned i = 0; i < 5; ++i) state[i + 1] = v[i];
  // 2^67 steps move the counter by a multiple of 2^32.
  state[0] += kWeyl * static_cast<std::uint32_t>(numbers);
}

void xorwow_skip(unsigned long long subsequences, unsigned long long numbers, unsigned (&state)[6]) {
  library_access(state, sizeof state, false, RIDGE_PC);
  library_access(state, sizeof state, true, RIDGE_PC, 16);
  skip(subsequences, numbers, state);
}

void xorwow_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                 unsigned (&state)[6]) {
  library_access(state, sizeof state, true, RIDGE_PC);
  const std::uint32_t a = 1099087573u * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49u);
  const std::uint32_t b = 2591861531u * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddu);
  state[0] = 6615241u + a + b;
  state[1] = 123456789u + a;
  state[2] = 362436069u ^ a;
  state[3] = 521288629u + b;
  state[4] = 88675123u ^ b;
  state[5] = 5783321u + a;
  skip(subsequence, offset, state);
}

void mrg_init(unsigned long long seed, unsigned (&state)[6]) {
  library_access(state, sizeof state, true, RIDGE_PC);
  const std::uint64_t x = static_cast<std::uint32_t>(seed) ^ 0x55555555u;
  const std::uint64_t y = static_cast<std::uint32_t>(seed >> 32) ^ 0xAAAAAAAAu;
  for (unsigned i = 0; i < 6; ++i) {
    const std::uint64_t factor = seed == 0 ? 1 : i % 2 == 0 ? x : y;
    const std::uint64_t mod = i < 3 ? kMod1 : kMod2;
    state[i] = static_cast<unsigned>(factor * 12345 % mod);
  }
}

void mrg_skip(unsigned long long sequences, unsigned long long subsequences, unsigned long long numbers,
              unsigned (&state)[6]) {
  library_access(state, sizeof state, false, RIDGE_PC);
  library_access(state, sizeof state, true, RIDGE_PC, 16);
  advance(127, sequences, state);
  advance(76, subsequences, state);
  advance(0, numbers, state);
}

}  // namespace ridge_simt

#undef RIDGE_PC
