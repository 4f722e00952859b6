// Task `prefetch`: how batches are encoded, and how many buffers there are.
#pragma once
#include <cstddef>
#include <cstdint>

constexpr int kSlots = 8;

// What a core of a real machine does: words [first, first + bytes / 4) of a batch. Each word takes 6 steps, so that
// a core decodes about 1 GB/s. (On the emulator the judge's cores decode, by words that nobody can compute.)
inline void decode_words(const void* from, void* to, std::size_t bytes, long long first) {
  const auto* encoded = static_cast<const std::uint32_t*>(from);
  auto* decoded = static_cast<std::uint32_t*>(to);
  for (std::size_t k = 0; k < bytes / 4; ++k) {
    const auto i = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(k);
    std::uint32_t word = encoded[k] ^ i;
    for (int step = 0; step < 6; ++step) {
      word = word * 2654435761u + 12345u;
      word ^= word >> 15;
    }
    decoded[k] = word;
  }
}
