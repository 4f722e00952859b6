// CUDA arrays, and the objects through which kernels read and write them.
#include <algorithm>

#include "api/api.hpp"
#include "device/textures.hpp"
#include "stream/streams.hpp"

using namespace ridge::simt;
using api::call;
using api::copy;

namespace {

Handles<cudaArray>& arrays() {
  static auto* handles = new Handles<cudaArray>;
  return *handles;
}

constexpr std::size_t kRowAlignment = 64;

std::size_t at_least_1(std::size_t n) { return std::max<std::size_t>(n, 1); }

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags) {
  const std::size_t bytes = format != nullptr ? texel_bytes(*format) : 0;
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
  if (array == nullptr || bytes == 0 || extent.width == 0 || (flags & ~kKnown) != 0)
    return api::keep(cudaErrorInvalidValue);
  const bool layered = (flags & cudaArrayLayered) != 0;
  if (layered ? extent.depth == 0 : extent.depth != 0 && extent.height == 0) return api::keep(cudaErrorInvalidValue);
  cudaArray made{};
  made.pitch = (extent.width * bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  made.slice = made.pitch * at_least_1(extent.height);
  made.format = *format;
  made.extent = extent;
  made.flags = flags;
  void* data = nullptr;
  if (cudaError_t error = cudaMalloc(&data, made.slice * at_least_1(extent.depth))) return error;
  made.data = static_cast<char*>(data);
  return call([&](Engine&) {
    *array = arrays().make();
    **array = made;
    return cudaSuccess;
  });
}

// The array's rows from (x, y) on, x in bytes; without data where they do not lie in its first slice.
Box rows_of(const cudaArray* array, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  if (array == nullptr || array->data == nullptr) return {};
  if (x + width > array->extent.width * texel_bytes(array->format) || y + height > at_least_1(array->extent.height))
    return {};
  return {array->data + y * array->pitch + x, array->pitch, array->slice};
}
Box rows_of(const void* p, std::size_t pitch, std::size_t height) {
  return {static_cast<char*>(const_cast<void*>(p)), pitch, pitch * height};
}

// cudaMemcpyToArray copies a stretch of whole rows.
bool whole_rows(const cudaArray* array, std::size_t x, std::size_t bytes, Extent& extent) {
  if (array == nullptr || array->data == nullptr) return false;
  const std::size_t row = array->extent.width * texel_bytes(array->format);
  if (x + bytes <= row)
    extent = {bytes, 1, 1};
  else if (x == 0 && bytes % row == 0)
    extent = {row, bytes / row, 1};
  else
    return false;
  return true;
}

cudaError_t to_array(const char* name, cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                     std::size_t pitch, Extent e, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy(name, rows_of(to, x, y, e.width, e.height), rows_of(from, pitch, e.height), e, kind, stream, async);
}
cudaError_t from_array(const char* name, void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                       std::size_t y, Extent e, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy(name, rows_of(to, pitch, e.height), rows_of(from, x, y, e.width, e.height), e, kind, stream, async);
}

// The memory that an object of this resource reads; `bytes` is 0 if there is no such resource.
TextureObject object_of(const cudaResourceDesc& resource) {
  TextureObject o;
  o.resource = resource;
  o.bytes = 0;
  auto shape = [&](const cudaChannelFormatDesc& format, std::size_t width, std::size_t height, std::size_t depth) {
    o.format = format;
    o.bytes = static_cast<unsigned>(texel_bytes(format));
    o.channels = o.bytes == 0 ? 0 : static_cast<int>(o.bytes) * 8 / format.x;
    o.width = static_cast<int>(width), o.height = static_cast<int>(at_least_1(height));
    o.depth = static_cast<int>(at_least_1(depth));
  };
  if (resource.resType == cudaResourceTypeArray) {
    const cudaArray* array = resource.res.array.array;
    if (!arrays().alive(array)) return o;
    shape(array->format, array->extent.width, array->extent.height, array->extent.depth);
    o.data = array->data, o.pitch = array->pitch, o.slice = array->slice;
  } else if (resource.resType == cudaResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    const std::size_t bytes = texel_bytes(linear.desc);
    if (linear.devPtr == nullptr || bytes == 0) return o;
    shape(linear.desc, linear.sizeInBytes / bytes, 1, 1);
    o.data = static_cast<char*>(linear.devPtr), o.linear = true;
  } else if (resource.resType == cudaResourceTypePitch2D) {
    const auto& rows = resource.res.pitch2D;
    if (rows.devPtr == nullptr || rows.pitchInBytes < rows.width * texel_bytes(rows.desc)) return o;
    shape(rows.desc, rows.width, rows.height, 1);
    o.data = static_cast<char*>(rows.devPtr), o.pitch = rows.pitchInBytes;
    o.slice = rows.pitchInBytes * rows.height;
  }
  return o;
}

cudaError_t add_object(unsigned long long* handle, const TextureObject& object) {
  if (object.bytes == 0) return cudaErrorInvalidValue;
  *handle = TextureObjects::instance().add(object);
  return *handle == 0 ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t remove_object(const char* name, unsigned long long handle, bool surface) {
  return call([&](Engine& engine) {
    engine.wait_all(name);  // kernels that read it are queued
    return TextureObjects::instance().remove(handle, surface) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned flags) {
  return make_array(array, format, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  return make_array(array, format, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return call([](Engine&) { return cudaSuccess; });
  void* data = nullptr;
  const cudaError_t error = call([&](Engine& engine) {
    if (!arrays().alive(array)) return cudaErrorInvalidValue;
    engine.wait_all("cudaFreeArray");
    data = array->data;
    arrays().end(array);
    return cudaSuccess;
  });
  return error != cudaSuccess ? error : cudaFree(data);
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  return call([&](Engine&) {
    if (!arrays().alive(array)) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call([&](Engine&) {
    if (format == nullptr || !arrays().alive(array)) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return to_array("cudaMemcpy2DToArray", to, x, y, from, pitch, {width, height, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return to_array("cudaMemcpy2DToArrayAsync", to, x, y, from, pitch, {width, height, 1}, kind, stream, true);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return from_array("cudaMemcpy2DFromArray", to, pitch, from, x, y, {width, height, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return from_array("cudaMemcpy2DFromArrayAsync", to, pitch, from, x, y, {width, height, 1}, kind, stream, true);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy("cudaMemcpy2DArrayToArray", rows_of(to, to_x, to_y, width, height),
              rows_of(from, from_x, from_y, width, height), {width, height, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Extent e;
  if (!whole_rows(to, x, bytes, e)) return api::keep(cudaErrorInvalidValue);
  return to_array("cudaMemcpyToArray", to, x, y, from, e.width, e, kind, nullptr, false);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  Extent e;
  if (!whole_rows(to, x, bytes, e)) return api::keep(cudaErrorInvalidValue);
  return to_array("cudaMemcpyToArrayAsync", to, x, y, from, e.width, e, kind, stream, true);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  Extent e;
  if (!whole_rows(from, x, bytes, e)) return api::keep(cudaErrorInvalidValue);
  return from_array("cudaMemcpyFromArray", to, e.width, from, x, y, e, kind, nullptr, false);
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  Extent e;
  if (!whole_rows(from, x, bytes, e)) return api::keep(cudaErrorInvalidValue);
  return from_array("cudaMemcpyFromArrayAsync", to, e.width, from, x, y, e, kind, stream, true);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return call([&](Engine&) {
    if (object == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
    if (view != nullptr && view->format != cudaResViewFormatNone) {
      api::explain("the emulator has no views of a texture in another format");
      return cudaErrorNotSupported;
    }
    if (texture->sRGB != 0) {
      api::explain("the emulator has no sRGB textures");
      return cudaErrorNotSupported;
    }
    TextureObject o = object_of(*resource);
    o.texture = *texture;
    const bool real = o.format.f == cudaChannelFormatKindFloat;
    // 32-bit integers have no normalized form; a filter needs numbers between texels.
    if (texture->readMode == cudaReadModeNormalizedFloat && !real && o.format.x == 32) return cudaErrorInvalidValue;
    if (texture->filterMode == cudaFilterModeLinear && !real && texture->readMode == cudaReadModeElementType) {
      api::explain("a linear filter needs floats: cudaReadModeNormalizedFloat, or texels of floats");
      return cudaErrorInvalidValue;
    }
    return add_object(object, o);
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return remove_object("cudaDestroyTextureObject", object, false);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t object) {
  return call([&](Engine&) {
    const TextureObject* o = TextureObjects::instance().find(object, false);
    if (resource == nullptr || o == nullptr) return cudaErrorInvalidValue;
    *resource = o->resource;
    return cudaSuccess;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return call([&](Engine&) {
    const TextureObject* o = TextureObjects::instance().find(object, false);
    if (texture == nullptr || o == nullptr) return cudaErrorInvalidValue;
    *texture = o->texture;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return call([&](Engine&) {
    if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    TextureObject o = object_of(*resource);
    o.surface = true;
    return add_object(object, o);
  });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return remove_object("cudaDestroySurfaceObject", object, true);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t object) {
  return call([&](Engine&) {
    const TextureObject* o = TextureObjects::instance().find(object, true);
    if (resource == nullptr || o == nullptr) return cudaErrorInvalidValue;
    *resource = o->resource;
    return cudaSuccess;
  });
}
}
