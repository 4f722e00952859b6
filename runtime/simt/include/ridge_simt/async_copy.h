// The common part of libcu++'s memcpy_async functions. A copy to shared memory is counted where it starts and lands
// when the thread arrives or waits; other copies are plain ones.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device.h"

namespace ridge_simt {

// Bytes [0, bytes) by `threads` threads, of which this is number `rank`: pieces of up to 16 bytes in turn.
RIDGE_DEVICE void copy_async(void* to, const void* from, std::size_t bytes, unsigned rank, unsigned threads) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const std::uintptr_t odd = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  const unsigned piece = odd % 16 == 0 ? 16 : odd % 8 == 0 ? 8 : odd % 4 == 0 ? 4 : 0;
  if (piece != 0 && is_shared(to) && is_global(from)) {
    for (std::size_t i = std::size_t{rank} * piece; i < bytes; i += std::size_t{threads} * piece)
      pipeline_copy(out + i, in + i, piece, 0);
    return;
  }
  if (odd % 4 == 0) {
    for (std::size_t i = rank; i < bytes / 4; i += threads)
      reinterpret_cast<unsigned*>(out)[i] = reinterpret_cast<const unsigned*>(in)[i];
    return;
  }
  for (std::size_t i = rank; i < bytes; i += threads) out[i] = in[i];
}
// Copies of this thread that are not there yet land.
RIDGE_DEVICE void land_copies() {
  pipeline_commit();
  pipeline_wait(0);
}

}  // namespace ridge_simt
