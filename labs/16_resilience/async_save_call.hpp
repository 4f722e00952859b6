// Plays `async_save` for entry.cu.
#pragma once
#include <cstdint>

#include "async_save.hpp"
#include "async_save_plan.hpp"
#include "files/ranks.hpp"
#include "lab/call.hpp"

// in[0]: the state's words at the beginning; out[0]: after the last step. Sizes: steps, steps between saves, words.
inline void call_async_save(const ridge_call& c) {
  const Training training{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  const auto bytes = static_cast<std::size_t>(kHeadBytes + training.bytes());
  // Page-locked memory is made once, for the largest state so far.
  static std::size_t room = 0;
  static char* locked = nullptr;
  constexpr std::size_t kPage = 4096;
  if (room < bytes) {
    if (locked != nullptr) cudaFreeHost(locked);
    cudaMallocHost(reinterpret_cast<void**>(&locked), bytes + kPage);
    room = bytes;
  }
  char* staging = locked + (kPage - reinterpret_cast<std::uintptr_t>(locked) % kPage) % kPage;
  auto* state = static_cast<std::uint32_t*>(c.out[0]);
  cudaMemcpyAsync(state, c.in[0], static_cast<std::size_t>(training.bytes()), cudaMemcpyDeviceToDevice, c.stream);
  files::mark(kStaging, static_cast<long long>(reinterpret_cast<std::uintptr_t>(staging)));
  files::mark(kTrained, train_and_save(training, state, staging, c.stream) ? 1 : 0);
}
