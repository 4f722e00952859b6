// Task `prefetch`: how batches are encoded, and how many buffers there are.
#pragma once
#include <cstdint>

constexpr int kSlots = 8;

// Word `i` of a decoded batch.
inline std::uint32_t decode(std::uint32_t encoded, int i) {
  std::uint32_t key = static_cast<std::uint32_t>(i) * 2654435761u + 12345u;
  key ^= key >> 15;
  return encoded ^ key * 2246822519u;
}
