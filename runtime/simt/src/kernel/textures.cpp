// Reads of textures, reads and writes of surfaces (CUDA Programming Guide, "Texture Fetching").
#include "device/textures.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "block/block.hpp"
#include "kernel/warp_operations.hpp"
#include "ridge_simt/bits.h"
#include "ridge_simt/textures.h"

#define RIDGE_TEXTURE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

namespace {

using ridge::simt::BlockRunner;
using ridge::simt::TextureObject;
using ridge::simt::TextureObjects;

constexpr int kLaunchFailure = 719;

const TextureObject& object_of(unsigned long long handle, bool surface, std::uintptr_t pc) {
  const TextureObject* object = TextureObjects::instance().find(handle, surface);
  if (object == nullptr)
    BlockRunner::current()->misuse(
        -1, surface ? "not a surface object" : "not a texture object",
        surface ? "cudaCreateSurfaceObject makes one, and it lives until cudaDestroySurfaceObject"
                : "cudaCreateTextureObject makes one, and it lives until cudaDestroyTextureObject",
        kLaunchFailure, pc);
  return *object;
}

// The texel of one dimension that is read, or -1: the border.
int addressed(long long i, int size, cudaTextureAddressMode mode) {
  if (i >= 0 && i < size) return static_cast<int>(i);
  switch (mode) {
    case cudaAddressModeWrap:
      return static_cast<int>((i % size + size) % size);
    case cudaAddressModeMirror: {
      const long long period = 2LL * size, at = (i % period + period) % period;
      return static_cast<int>(at < size ? at : period - 1 - at);
    }
    case cudaAddressModeBorder:
      return -1;
    default:
      return i < 0 ? 0 : size - 1;
  }
}

// In texels, finite, and not beyond what addressed() takes.
double in_texels(float x, int size, bool normalized) {
  if (std::isnan(x)) return 0;
  const double at = normalized ? static_cast<double>(x) * size : x;
  return std::fmin(std::fmax(at, -1e9), 1e9);
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// A channel as the register that the instruction leaves.
std::uint32_t channel(const TextureObject& o, const char* p) {
  const bool normalized = o.texture.readMode == cudaReadModeNormalizedFloat;
  const int bits = o.format.x;
  if (bits == 32) {
    std::uint32_t value;
    std::memcpy(&value, p, 4);
    return value;
  }
  std::uint16_t raw = 0;
  std::memcpy(&raw, p, static_cast<std::size_t>(bits / 8));
  if (o.format.f == cudaChannelFormatKindFloat) return bits_of(Fp16::widen(raw));
  if (o.format.f == cudaChannelFormatKindUnsigned)
    return normalized ? bits_of(static_cast<float>(raw) / static_cast<float>((1 << bits) - 1)) : raw;
  const int value = bits == 8 ? static_cast<signed char>(raw) : static_cast<short>(raw);
  const float largest = static_cast<float>((1 << (bits - 1)) - 1);
  return normalized ? bits_of(std::fmax(static_cast<float>(value) / largest, -1.0f))
                    : static_cast<std::uint32_t>(value);
}

// `at`: texels, each -1 for the border.
Texel texel(const TextureObject& o, const int (&at)[3], std::uintptr_t pc, unsigned part) {
  Texel t{};
  if (at[0] < 0 || at[1] < 0 || at[2] < 0) {
    const bool real = o.format.f == cudaChannelFormatKindFloat || o.texture.readMode == cudaReadModeNormalizedFloat;
    for (int c = 0; c < o.channels; ++c) {
      const float border = o.texture.borderColor[c];
      t.channel[c] = real ? bits_of(border) : static_cast<std::uint32_t>(static_cast<long long>(border));
    }
    return t;
  }
  const char* p = o.data + static_cast<std::size_t>(at[2]) * o.slice + static_cast<std::size_t>(at[1]) * o.pitch +
                  static_cast<std::size_t>(at[0]) * o.bytes;
  library_access(p, o.bytes, false, pc, part);
  for (int c = 0; c < o.channels; ++c) t.channel[c] = channel(o, p + c * o.format.x / 8);
  return t;
}

int clamped(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

// Weights, in 256ths, of the `1 << dimensions` texels of a filter. Bit d of an index is set for the farther texel of
// axis d, and parts[d] is how far the point is on the way to it. An H100 rounds so: always in one and two dimensions,
// in nine of ten points in three.
void filter_weights(int dimensions, const int (&parts)[3], int (&weights)[8]) {
  auto share = [](int whole, int part) { return (whole * part + 128) / 256; };
  const int x = parts[0], y = parts[1];
  if (dimensions < 3) {
    const int both = share(x, y);
    weights[3] = both, weights[1] = x - both, weights[2] = y - both, weights[0] = 256 - x - y + both;
    return;
  }
  for (int far = 0; far < 2; ++far) {
    const int plane = far ? parts[2] : 256 - parts[2], right = share(plane, x), left = plane - right;
    weights[4 * far + 3] = share(right, y), weights[4 * far + 1] = right - weights[4 * far + 3];
    weights[4 * far + 2] = share(left, y), weights[4 * far] = left - weights[4 * far + 2];
  }
}

}  // namespace

Texel texture_read(cudaTextureObject_t object, TexturePoint point) {
  const std::uintptr_t pc = RIDGE_TEXTURE_PC;
  const TextureObject& o = object_of(object, false, pc);
  if (o.linear)
    BlockRunner::current()->misuse(-1, "a texture of linear memory is read by coordinates",
                                   "tex1Dfetch reads it by index; tex2D needs an array or pitched memory",
                                   kLaunchFailure, pc);
  const bool normalized = o.texture.normalizedCoords != 0;
  const int sizes[3] = {o.width, o.height, o.depth};
  const int fixed[3] = {0, 0,
                        static_cast<int>(std::min<unsigned>(
                            point.layer, static_cast<unsigned>(o.depth - 1)))};  // of axes that the point does not have
  int low[3], high[3];                                                           // the two texels of each axis
  int part[3] = {0, 0, 0};
  const bool linear = o.texture.filterMode == cudaFilterModeLinear;
  for (int d = 0; d < 3; ++d) {
    if (d >= point.dimensions) {
      low[d] = high[d] = fixed[d];
      continue;
    }
    // Only normalized coordinates wrap.
    cudaTextureAddressMode mode = o.texture.addressMode[d];
    if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) mode = cudaAddressModeClamp;
    const double at = in_texels(point.at[d], sizes[d], normalized) - (linear ? 0.5 : 0.0);
    const double whole = std::floor(at);
    part[d] = linear ? static_cast<int>((at - whole) * 256 + 0.5) : 0;
    low[d] = addressed(static_cast<long long>(whole), sizes[d], mode);
    high[d] = linear ? addressed(static_cast<long long>(whole) + 1, sizes[d], mode) : low[d];
  }
  if (!linear) return texel(o, low, pc, 0);
  int weights[8] = {};
  filter_weights(point.dimensions, part, weights);
  float sums[4] = {0, 0, 0, 0};
  for (unsigned corner = 0; corner < 1u << point.dimensions; ++corner) {
    int at[3] = {low[0], low[1], low[2]};
    for (int d = 0; d < point.dimensions; ++d)
      if ((corner >> d & 1) != 0) at[d] = high[d];
    const Texel t = texel(o, at, pc, corner);
    for (int c = 0; c < o.channels; ++c) sums[c] += static_cast<float>(weights[corner]) / 256 * float_of(t.channel[c]);
  }
  Texel mean{};
  for (int c = 0; c < o.channels; ++c) mean.channel[c] = bits_of(sums[c]);
  return mean;
}

Texel texture_fetch(cudaTextureObject_t object, int index) {
  const std::uintptr_t pc = RIDGE_TEXTURE_PC;
  const TextureObject& o = object_of(object, false, pc);
  if (index < 0 || index >= o.width) return {};
  const int at[3] = {index, 0, 0};
  return texel(o, at, pc, 0);
}

Texel texture_gather(cudaTextureObject_t object, float x, float y, int which) {
  const std::uintptr_t pc = RIDGE_TEXTURE_PC;
  const TextureObject& o = object_of(object, false, pc);
  const bool normalized = o.texture.normalizedCoords != 0;
  const auto i = static_cast<long long>(std::floor(in_texels(x, o.width, normalized) - 0.5));
  const auto j = static_cast<long long>(std::floor(in_texels(y, o.height, normalized) - 0.5));
  static constexpr int kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel gathered{};
  for (unsigned n = 0; n < 4; ++n) {
    auto mode = [&](int d) {
      const cudaTextureAddressMode m = o.texture.addressMode[d];
      return normalized || m == cudaAddressModeBorder ? m : cudaAddressModeClamp;
    };
    const int at[3] = {addressed(i + kOrder[n][0], o.width, mode(0)), addressed(j + kOrder[n][1], o.height, mode(1)),
                       0};
    gathered.channel[n] = texel(o, at, pc, n).channel[which & 3];
  }
  return gathered;
}

namespace {

// The address of a surface's bytes; nullptr if they lie outside and the mode says to go on.
char* surface_at(const TextureObject& o, const SurfacePoint& point, unsigned bytes, cudaSurfaceBoundaryMode mode,
                 std::uintptr_t pc) {
  const long long row = static_cast<long long>(o.width) * o.bytes;
  long long x = point.at[0], y = point.dimensions > 1 ? point.at[1] : 0, z = point.dimensions > 2 ? point.at[2] : 0;
  if (point.layer >= 0) z = point.layer;
  if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0)
    BlockRunner::current()->misuse(-1, "an access of a surface of no size that there is", "1, 2, 4, 8 or 16 bytes",
                                   kLaunchFailure, pc);
  if (x % bytes != 0)
    BlockRunner::current()->misuse(-1, "a surface's x is not aligned",
                                   "x is in bytes, and a multiple of the size of what is read or written",
                                   kLaunchFailure, pc);
  const bool outside = x < 0 || x + bytes > row || y < 0 || y >= o.height || z < 0 || z >= o.depth;
  if (outside && mode == cudaBoundaryModeTrap)
    BlockRunner::current()->misuse(-1, "outside of the surface",
                                   "x is in bytes, y and z in elements; cudaBoundaryModeClamp and cudaBoundaryModeZero "
                                   "allow points outside",
                                   kLaunchFailure, pc);
  if (outside && mode == cudaBoundaryModeZero) return nullptr;
  x = x < 0 ? 0 : x + bytes > row ? row - bytes : x;
  y = clamped(static_cast<int>(y), o.height);
  z = clamped(static_cast<int>(z), o.depth);
  return o.data + static_cast<std::size_t>(z) * o.slice + static_cast<std::size_t>(y) * o.pitch + x;
}

}  // namespace

void surface_read(cudaSurfaceObject_t object, SurfacePoint point, void* to, unsigned bytes,
                  cudaSurfaceBoundaryMode mode) {
  const std::uintptr_t pc = RIDGE_TEXTURE_PC;
  const char* from = surface_at(object_of(object, true, pc), point, bytes, mode, pc);
  library_access(to, bytes, true, pc, 1);
  if (from == nullptr) {
    std::memset(to, 0, bytes);
    return;
  }
  library_access(from, bytes, false, pc);
  std::memcpy(to, from, bytes);
}

void surface_write(cudaSurfaceObject_t object, SurfacePoint point, const void* from, unsigned bytes,
                   cudaSurfaceBoundaryMode mode) {
  const std::uintptr_t pc = RIDGE_TEXTURE_PC;
  char* to = surface_at(object_of(object, true, pc), point, bytes, mode, pc);
  library_access(from, bytes, false, pc, 1);
  if (to == nullptr) return;
  library_access(to, bytes, true, pc);
  std::memcpy(to, from, bytes);
}

}  // namespace ridge_simt
