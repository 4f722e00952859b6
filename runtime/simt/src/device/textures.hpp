// CUDA arrays, and the objects through which kernels read and write them.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "driver_types.h"
#include "texture_types.h"

struct cudaArray {
  char* data;
  std::size_t pitch, slice;  // bytes from row to row, and from slice or layer to the next
  cudaChannelFormatDesc format;
  cudaExtent extent;  // elements, as the program gave it: height and depth may be 0
  unsigned flags;
};

namespace ridge::simt {

std::size_t texel_bytes(const cudaChannelFormatDesc& format);  // 0: no format that there is

// A texture or a surface. `width`, `height` and `depth` are in texels and at least 1; a layered array's layers are in
// `depth`.
struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  char* data = nullptr;
  std::size_t pitch = 0, slice = 0;
  int width = 1, height = 1, depth = 1;
  cudaChannelFormatDesc format{};
  int channels = 1;
  unsigned bytes = 4;   // of a texel
  bool linear = false;  // linear memory: read by index
  bool surface = false;
};

// By handles, from 1 on. A handle is used again only when all others have been.
class TextureObjects {
 public:
  static TextureObjects& instance();
  unsigned long long add(const TextureObject& object);  // 0: too many
  bool remove(unsigned long long handle, bool surface);
  // nullptr: there is none. Kernels ask without a lock.
  const TextureObject* find(unsigned long long handle, bool surface) const;

 private:
  static constexpr std::size_t kMost = 1 << 16;
  std::array<std::atomic<const TextureObject*>, kMost> objects_{};
  std::size_t next_ = 1;
  std::mutex mutex_;
};

}  // namespace ridge::simt
