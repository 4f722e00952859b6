// Plays `prefetch` for entry.cu.
#pragma once
#include <cstdint>

#include "lab/call.hpp"
#include "prefetch.hpp"
#include "real_name.hpp"

// in[0]: the state's words at the beginning; out[0]: after the last batch; workspace: the slots on the device. Sizes:
// batches, words, -, 1 on a real machine, where in[1] has the file's number.
inline void call_prefetch(const ridge_call& c) {
  const FileName name("train", c.size[3] == 1 ? c.in[1] : nullptr, c.stream);
  const Feed feed{name.text, static_cast<int>(c.size[0]), static_cast<int>(c.size[1])};
  const std::size_t bytes = static_cast<std::size_t>(feed.bytes());
  // Page-locked memory is made once, for the largest batch so far.
  static std::size_t room = 0;
  static char* locked = nullptr;
  constexpr std::size_t kPage = 16384;  // the largest alignment of any storage
  if (room < bytes) {
    if (locked != nullptr) cudaFreeHost(locked);
    cudaMallocHost(reinterpret_cast<void**>(&locked), 2 * kSlots * bytes + kPage);
    room = bytes;
  }
  char* at = locked + (kPage - reinterpret_cast<std::uintptr_t>(locked) % kPage) % kPage;
  Slots slots;
  for (int s = 0; s < kSlots; ++s, at += 2 * bytes) {
    slots.encoded[s] = reinterpret_cast<std::uint32_t*>(at);
    slots.decoded[s] = reinterpret_cast<std::uint32_t*>(at + bytes);
    slots.on_device[s] = static_cast<std::uint32_t*>(c.workspace) + static_cast<std::size_t>(s) * feed.words;
  }
  auto* state = static_cast<std::uint32_t*>(c.out[0]);
  cudaMemcpyAsync(state, c.in[0], bytes, cudaMemcpyDeviceToDevice, c.stream);
  train(feed, slots, state, c.stream);
}
