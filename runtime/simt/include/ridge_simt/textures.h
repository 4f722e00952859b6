// tex2D() and its kin, surf2Dread() and its kin, and formats of channels. A read of a texture counts as a load of each texel that
// it needs. There are no levels of detail, cube maps or sRGB.
#pragma once
#include <cstdint>
#include <cstring>

#include "device.h"
#include "surface_types.h"
#include "texture_types.h"

namespace ridge_simt {

struct Texel {
  std::uint32_t channel[4];  // as a GPU's registers: the bits of a float, or an integer
};

// The coordinates of a texture read. `dimensions` is 1 to 3.
struct TexturePoint {
  int dimensions;
  float at[3];
  unsigned layer;  // 0: also where there are none. Beyond the last one it is the last one, and so is -1.
};
Texel texture_read(cudaTextureObject_t object, TexturePoint point);
// tex1Dfetch: the element at an index of linear memory.
Texel texture_fetch(cudaTextureObject_t object, int index);
// tex2Dgather: one channel of the four texels that a linear filter would read.
Texel texture_gather(cudaTextureObject_t object, float x, float y, int channel);

// x in bytes.
struct SurfacePoint {
  int dimensions;
  int at[3];
  int layer;
};
void surface_read(cudaSurfaceObject_t object, SurfacePoint point, void* to, unsigned bytes, cudaSurfaceBoundaryMode mode);
void surface_write(cudaSurfaceObject_t object, SurfacePoint point, const void* from, unsigned bytes,
                   cudaSurfaceBoundaryMode mode);

// The channels of a texel's type.
template <class T>
struct Channels {
  using type = T;
  static constexpr int count = 1;
};
#define RIDGE_CHANNELS(name, T)    \
  template <>                      \
  struct Channels<name##1> {       \
    using type = T;                \
    static constexpr int count = 1; \
  };                               \
  template <>                      \
  struct Channels<name##2> {       \
    using type = T;                \
    static constexpr int count = 2; \
  };                               \
  template <>                      \
  struct Channels<name##3> {       \
    using type = T;                \
    static constexpr int count = 3; \
  };                               \
  template <>                      \
  struct Channels<name##4> {       \
    using type = T;                \
    static constexpr int count = 4; \
  };
RIDGE_CHANNELS(char, signed char)
RIDGE_CHANNELS(uchar, unsigned char)
RIDGE_CHANNELS(short, short)
RIDGE_CHANNELS(ushort, unsigned short)
RIDGE_CHANNELS(int, int)
RIDGE_CHANNELS(uint, unsigned)
RIDGE_CHANNELS(float, float)
#undef RIDGE_CHANNELS

template <class C>
RIDGE_UNCOUNTED RIDGE_DEVICE C channel_as(std::uint32_t bits) {
  if constexpr (static_cast<C>(0.5f) != C{}) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return static_cast<C>(value);
  } else {
    return static_cast<C>(bits);
  }
}
template <class T>
RIDGE_UNCOUNTED RIDGE_DEVICE T texel_as(const Texel& texel) {
  using C = typename Channels<T>::type;
  if constexpr (sizeof(T) == sizeof(C) && Channels<T>::count == 1) {
    const C c = channel_as<C>(texel.channel[0]);
    T value;
    __builtin_memcpy(&value, &c, sizeof(T));
    return value;
  } else {
    C c[Channels<T>::count];
    for (int i = 0; i < Channels<T>::count; ++i) c[i] = channel_as<C>(texel.channel[i]);
    T value;
    __builtin_memcpy(&value, c, sizeof(T));
    return value;
  }
}

}  // namespace ridge_simt

#define RIDGE_TEXTURE(name, parameters, ...)                 \
  template <class T>                                         \
  RIDGE_DEVICE T name parameters {                           \
    return ridge_simt::texel_as<T>(ridge_simt::__VA_ARGS__); \
  }
RIDGE_TEXTURE(tex1Dfetch, (cudaTextureObject_t o, int i), texture_fetch(o, i))
RIDGE_TEXTURE(tex1D, (cudaTextureObject_t o, float x), texture_read(o, {1, {x, 0, 0}, 0}))
RIDGE_TEXTURE(tex2D, (cudaTextureObject_t o, float x, float y), texture_read(o, {2, {x, y, 0}, 0}))
RIDGE_TEXTURE(tex3D, (cudaTextureObject_t o, float x, float y, float z), texture_read(o, {3, {x, y, z}, 0}))
RIDGE_TEXTURE(tex1DLayered, (cudaTextureObject_t o, float x, int layer), texture_read(o, {1, {x, 0, 0}, (unsigned)layer}))
RIDGE_TEXTURE(tex2DLayered, (cudaTextureObject_t o, float x, float y, int layer),
              texture_read(o, {2, {x, y, 0}, (unsigned)layer}))
RIDGE_TEXTURE(tex2Dgather, (cudaTextureObject_t o, float x, float y, int channel = 0),
              texture_gather(o, x, y, channel))
// A texture has one level here.
RIDGE_TEXTURE(tex1DLod, (cudaTextureObject_t o, float x, float), texture_read(o, {1, {x, 0, 0}, 0}))
RIDGE_TEXTURE(tex2DLod, (cudaTextureObject_t o, float x, float y, float), texture_read(o, {2, {x, y, 0}, 0}))
RIDGE_TEXTURE(tex3DLod, (cudaTextureObject_t o, float x, float y, float z, float),
              texture_read(o, {3, {x, y, z}, 0}))
RIDGE_TEXTURE(tex1DGrad, (cudaTextureObject_t o, float x, float, float), texture_read(o, {1, {x, 0, 0}, 0}))
RIDGE_TEXTURE(tex2DGrad, (cudaTextureObject_t o, float x, float y, float2, float2),
              texture_read(o, {2, {x, y, 0}, 0}))
RIDGE_TEXTURE(tex3DGrad, (cudaTextureObject_t o, float x, float y, float z, float4, float4),
              texture_read(o, {3, {x, y, z}, 0}))
RIDGE_TEXTURE(tex1DLayeredLod, (cudaTextureObject_t o, float x, int layer, float),
              texture_read(o, {1, {x, 0, 0}, (unsigned)layer}))
RIDGE_TEXTURE(tex2DLayeredLod, (cudaTextureObject_t o, float x, float y, int layer, float),
              texture_read(o, {2, {x, y, 0}, (unsigned)layer}))
RIDGE_TEXTURE(tex1DLayeredGrad, (cudaTextureObject_t o, float x, int layer, float, float),
              texture_read(o, {1, {x, 0, 0}, (unsigned)layer}))
RIDGE_TEXTURE(tex2DLayeredGrad, (cudaTextureObject_t o, float x, float y, int layer, float2, float2),
              texture_read(o, {2, {x, y, 0}, (unsigned)layer}))
#undef RIDGE_TEXTURE
template <class T>
RIDGE_DEVICE void tex1Dfetch(T* to, cudaTextureObject_t o, int i) { *to = tex1Dfetch<T>(o, i); }
template <class T>
RIDGE_DEVICE void tex1D(T* to, cudaTextureObject_t o, float x) { *to = tex1D<T>(o, x); }
template <class T>
RIDGE_DEVICE void tex2D(T* to, cudaTextureObject_t o, float x, float y) { *to = tex2D<T>(o, x, y); }
template <class T>
RIDGE_DEVICE void tex3D(T* to, cudaTextureObject_t o, float x, float y, float z) { *to = tex3D<T>(o, x, y, z); }

// surf1Dread<T>(object, x), surf1Dread(&value, object, x) and surf1Dwrite(value, object, x), and so on.
#define RIDGE_POINT(...) ridge_simt::SurfacePoint{__VA_ARGS__}
#define RIDGE_MODE cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap
#define RIDGE_SURFACES(name, point, ...)                                                             \
  template <class T>                                                                                 \
  RIDGE_DEVICE T name##read(cudaSurfaceObject_t o, __VA_ARGS__, RIDGE_MODE) {                        \
    T value;                                                                                         \
    ridge_simt::surface_read(o, point, &value, sizeof(T), mode);                                     \
    return value;                                                                                    \
  }                                                                                                  \
  template <class T>                                                                                 \
  RIDGE_DEVICE void name##read(T* to, cudaSurfaceObject_t o, __VA_ARGS__, RIDGE_MODE) {              \
    T value;                                                                                         \
    ridge_simt::surface_read(o, point, &value, sizeof(T), mode);                                     \
    *to = value;                                                                                     \
  }                                                                                                  \
  template <class T>                                                                                 \
  RIDGE_DEVICE void name##write(T value, cudaSurfaceObject_t o, __VA_ARGS__, RIDGE_MODE) {           \
    ridge_simt::surface_write(o, point, &value, sizeof(T), mode);                                    \
  }
RIDGE_SURFACES(surf1D, RIDGE_POINT(1, {x, 0, 0}, -1), int x)
RIDGE_SURFACES(surf2D, RIDGE_POINT(2, {x, y, 0}, -1), int x, int y)
RIDGE_SURFACES(surf3D, RIDGE_POINT(3, {x, y, z}, -1), int x, int y, int z)
RIDGE_SURFACES(surf1DLayered, RIDGE_POINT(1, {x, 0, 0}, layer), int x, int layer)
RIDGE_SURFACES(surf2DLayered, RIDGE_POINT(2, {x, y, 0}, layer), int x, int y, int layer)
#undef RIDGE_SURFACES
#undef RIDGE_MODE
#undef RIDGE_POINT

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  using C = typename ridge_simt::Channels<T>::type;
  constexpr int bits = 8 * sizeof(C), n = ridge_simt::Channels<T>::count;
  constexpr bool is_float = static_cast<C>(0.5f) != C{};
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
          is_float                    ? cudaChannelFormatKindFloat
          : static_cast<C>(-1) < C{} ? cudaChannelFormatKindSigned
                                      : cudaChannelFormatKindUnsigned};
}
