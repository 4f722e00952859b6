// Plays `direct` for entry.cu.
#pragma once
#include <cstdint>

#include "direct.hpp"
#include "lab/call.hpp"
#include "real_name.hpp"

// out[0]: the range's bytes; out[1]: what the function returned; workspace: device memory for cuFile. Sizes: offset,
// bytes, 1 for cuFile, -, -, 1 on a real machine, where in[0] has the file's number.
inline void call_direct(const ridge_call& c) {
  constexpr std::size_t kPage = 16384;  // the largest alignment of any storage
  static char* const locked = [] {
    void* p = nullptr;
    cudaMallocHost(&p, kLockedBytes + kPage);
    return static_cast<char*>(p) + (kPage - reinterpret_cast<std::uintptr_t>(p) % kPage) % kPage;
  }();
  auto* to = static_cast<unsigned char*>(c.out[0]);
  auto* scratch = static_cast<unsigned char*>(c.workspace);
  const FileName name("data", c.size[5] == 1 ? c.in[0] : nullptr, c.stream);
  const int good =
      c.size[2] == 1
          ? read_cufile(name.text, c.size[0], c.size[1], to, scratch, c.workspace_bytes, c.stream)
          : read_direct(name.text, c.size[0], c.size[1], to, reinterpret_cast<unsigned char*>(locked), c.stream);
  cudaMemcpyAsync(c.out[1], &good, sizeof good, cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
