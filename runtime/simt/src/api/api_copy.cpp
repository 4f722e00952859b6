// Copies and fills: what the pointers are, which calls wait, and rows with pitches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "device/symbols.hpp"
#include "device/textures.hpp"
#include "sanitize/sanitizer.hpp"

using namespace ridge::simt;
using api::call;

namespace ridge::simt::api {

namespace {

enum class Side { pageable, pinned, managed, device };

Side side_of(const void* p) {
  auto address = reinterpret_cast<std::uintptr_t>(p);
  auto& memory = DeviceMemory::instance();
  if (memory.contains(address)) {
    const MemoryKind kind = memory.owner(address).kind;
    return kind == MemoryKind::host ? Side::pinned : kind == MemoryKind::managed ? Side::managed : Side::device;
  }
  if (is_symbol(p)) return Side::device;
  return memory.registered(address) != 0 ? Side::pinned : Side::pageable;
}

// The device of device memory. Variables count as the current device's: all devices share them.
int device_of(const void* p) {
  const Allocation* a = DeviceMemory::instance().find(reinterpret_cast<std::uintptr_t>(p));
  return a != nullptr ? a->device : current_device();
}

// True where the rows start in the device's address space and do not stay inside one live allocation.
bool outside(const Box& box, const Extent& extent) {
  auto address = reinterpret_cast<std::uintptr_t>(box.data);
  auto& memory = DeviceMemory::instance();
  if (!memory.contains(address)) return false;
  const Allocation* a = memory.find(address);
  std::size_t bytes = 0, rows = 0;
  return a == nullptr || __builtin_mul_overflow(extent.depth - 1, box.slice, &bytes) ||
         __builtin_mul_overflow(extent.height - 1, box.pitch, &rows) || __builtin_add_overflow(bytes, rows, &bytes) ||
         __builtin_add_overflow(bytes, extent.width, &bytes) || bytes > a->end - address;
}

// Says which pointer does not fit, and once even where nobody looks at the result: the program goes on with old data.
cudaError_t wrong_direction(cudaMemcpyKind kind, const char* which, Side side) {
  static constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                           "cudaMemcpyDeviceToDevice"};
  const std::string why = std::string("the ") + which + " of a copy with " + kNames[kind] + " is memory of the " +
                          (side == Side::device ? "device" : "host") + ": nothing was copied";
  static bool told = false;  // with the lock
  if (std::getenv("RIDGE_QUIET_FAULTS") == nullptr && !std::exchange(told, true))
    std::fprintf(stderr, "ridge: %s\n", why.c_str());
  explain(why);
  return cudaErrorInvalidValue;
}

// Takes the source now: the program may change it as soon as the call returns.
void stage(Work& work) {
  const Extent& e = work.extent;
  work.staged = std::shared_ptr<char>(new char[e.bytes()], std::default_delete<char[]>());
  Box own{work.staged.get(), e.width, e.width * e.height};
  for (std::size_t z = 0; z < e.depth; ++z)
    for (std::size_t y = 0; y < e.height; ++y)
      std::memcpy(own.data + z * own.slice + y * own.pitch, work.from.data + z * work.from.slice + y * work.from.pitch,
                  e.width);
  work.from = own;
}

}  // namespace

cudaError_t copy_work(Work& work, Box to, Box from, Extent extent, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (to.data == nullptr || from.data == nullptr || outside(to, extent) || outside(from, extent))
    return cudaErrorInvalidValue;
  const Side target = side_of(to.data), source = side_of(from.data);
  const bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  if (kind != cudaMemcpyDefault && source == (from_host ? Side::device : Side::pageable))
    return wrong_direction(kind, "source", source);
  if (kind != cudaMemcpyDefault && target == (to_host ? Side::device : Side::pageable))
    return wrong_direction(kind, "destination", target);
  auto on_device = [](Side s) { return s == Side::device || s == Side::managed; };
  work.kind = WorkKind::copy;
  work.to = to;
  work.from = from;
  work.extent = extent;
  work.to_device = device_of(to.data);
  work.from_device = device_of(from.data);
  if (on_device(source) && on_device(target))
    work.path = work.to_device == work.from_device ? CopyPath::on_device : CopyPath::between_devices;
  else if (on_device(source))
    work.path = CopyPath::device_to_host;
  else
    work.path = on_device(target) ? CopyPath::host_to_device : CopyPath::on_host;
  work.pageable = source == Side::pageable || target == Side::pageable;
  return cudaSuccess;
}

cudaError_t fill_work(Work& work, Box to, unsigned value, unsigned element_size, Extent extent) {
  if (to.data == nullptr || outside(to, extent) || side_of(to.data) == Side::pageable) return cudaErrorInvalidValue;
  if (element_size != 1 && element_size != 2 && element_size != 4) return cudaErrorInvalidValue;
  work.kind = WorkKind::fill;
  work.to = to;
  work.to_device = device_of(to.data);
  work.extent = extent;
  work.value = value;
  work.element_size = element_size;
  return cudaSuccess;
}

// `async`: the program called an ...Async function.
cudaError_t submit_copy(Engine& engine, const char* name, Work work, cudaStream_t stream, bool async) {
  CUstream_st* s = engine.streams.find(stream);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  const double seconds = device_profile().copy_call;
  if (capturing(*s)) return enqueue(*s, std::move(work), name, seconds);
  const CopyPath path = work.path;
  if (path == CopyPath::between_devices && s->legacy)
    return submit_default_peer_copy(engine, name, *s, std::move(work));
  // Asynchronous copies return early unless pageable memory is read late or written. The others return early only on
  // the device.
  const bool waits = async ? path == CopyPath::on_host || (path == CopyPath::device_to_host && work.pageable)
                           : path != CopyPath::on_device && path != CopyPath::between_devices;
  if (work.pageable && path == CopyPath::host_to_device && !waits) stage(work);
  OperationPtr op;
  if (cudaError_t error = enqueue(*s, std::move(work), name, seconds, &op)) return error;
  if (waits) engine.wait(name, {op});
  return cudaSuccess;
}

cudaError_t copy(const char* name, Box to, Box from, Extent extent, cudaMemcpyKind kind, cudaStream_t stream,
                 bool async) {
  return call([&](Engine& engine) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    if (extent.height * extent.depth > 1 && (extent.width > to.pitch || extent.width > from.pitch))
      return cudaErrorInvalidPitchValue;
    Work work;
    if (cudaError_t error = copy_work(work, to, from, extent, kind)) return error;
    return submit_copy(engine, name, std::move(work), stream, async);
  });
}

}  // namespace ridge::simt::api

namespace {

using api::copy;

Box box_of(const void* p, std::size_t pitch, std::size_t rows = 1) {
  return {static_cast<char*>(const_cast<void*>(p)), pitch, pitch * rows};
}

cudaError_t fill(const char* name, Box to, int value, Extent extent, cudaStream_t stream, bool async) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    if (extent.height * extent.depth > 1 && extent.width > to.pitch) return cudaErrorInvalidValue;
    Work work;
    const auto byte = static_cast<unsigned char>(value);
    if (cudaError_t error = api::fill_work(work, to, byte, 1, extent)) return error;
    // Memory that the host can see is filled before the call returns.
    const Allocation* a = DeviceMemory::instance().find(reinterpret_cast<std::uintptr_t>(to.data));
    const bool waits = !async && !api::capturing(*s) && (a == nullptr || a->kind != MemoryKind::device);
    OperationPtr op;
    if (cudaError_t error = api::enqueue(*s, std::move(work), name, device_profile().launch_call, &op)) return error;
    if (waits) engine.wait(name, {op});
    return cudaSuccess;
  });
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* p, cudaStream_t stream, bool async) {
  if (p == nullptr) return api::keep(cudaErrorInvalidValue);
  // Each side is an array or memory. What an array is part of is measured in its texels.
  auto twice = [](const cudaArray* array, const cudaPitchedPtr& pitched) {
    return array != nullptr && pitched.ptr != nullptr;
  };
  const std::size_t to_bytes = p->dstArray != nullptr ? texel_bytes(p->dstArray->format) : 0;
  const std::size_t from_bytes = p->srcArray != nullptr ? texel_bytes(p->srcArray->format) : 0;
  if (twice(p->dstArray, p->dstPtr) || twice(p->srcArray, p->srcPtr) ||
      (to_bytes != 0 && from_bytes != 0 && to_bytes != from_bytes))
    return api::keep(cudaErrorInvalidValue);
  auto inside = [e = p->extent](const cudaArray* array, const cudaPos& at) {
    return array == nullptr || (at.x + e.width <= array->extent.width &&
                                at.y + e.height <= std::max<std::size_t>(array->extent.height, 1) &&
                                at.z + e.depth <= std::max<std::size_t>(array->extent.depth, 1));
  };
  if (!inside(p->dstArray, p->dstPos) || !inside(p->srcArray, p->srcPos)) return api::keep(cudaErrorInvalidValue);
  auto box = [](const cudaArray* array, std::size_t bytes, const cudaPitchedPtr& pitched, const cudaPos& at) {
    Box b = array != nullptr ? Box{array->data, array->pitch, array->slice}
                             : box_of(pitched.ptr, pitched.pitch, pitched.ysize);
    if (b.data != nullptr) b.data += at.z * b.slice + at.y * b.pitch + at.x * std::max<std::size_t>(bytes, 1);
    return b;
  };
  const std::size_t unit = std::max({to_bytes, from_bytes, std::size_t{1}});
  return copy(name, box(p->dstArray, to_bytes, p->dstPtr, p->dstPos),
              box(p->srcArray, from_bytes, p->srcPtr, p->srcPos),
              {p->extent.width * unit, p->extent.height, p->extent.depth}, p->kind, stream, async);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind) {
  return copy("cudaMemcpy", box_of(to, n), box_of(from, n), {n, 1, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy("cudaMemcpyAsync", box_of(to, n), box_of(from, n), {n, 1, 1}, kind, stream, true);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy("cudaMemcpy2D", box_of(to, to_pitch), box_of(from, from_pitch), {width, height, 1}, kind, nullptr, false);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy("cudaMemcpy2DAsync", box_of(to, to_pitch), box_of(from, from_pitch), {width, height, 1}, kind, stream,
              true);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d("cudaMemcpy3D", p, nullptr, false); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", p, stream, true);
}

cudaError_t cudaMemset(void* to, int value, size_t n) {
  return fill("cudaMemset", box_of(to, n), value, {n, 1, 1}, nullptr, false);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t n, cudaStream_t stream) {
  return fill("cudaMemsetAsync", box_of(to, n), value, {n, 1, 1}, stream, true);
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill("cudaMemset2D", box_of(to, pitch), value, {width, height, 1}, nullptr, false);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fill("cudaMemset2DAsync", box_of(to, pitch), value, {width, height, 1}, stream, true);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent e) {
  return fill("cudaMemset3D", box_of(to.ptr, to.pitch, to.ysize), value, {e.width, e.height, e.depth}, nullptr, false);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent e, cudaStream_t stream) {
  return fill("cudaMemset3DAsync", box_of(to.ptr, to.pitch, to.ysize), value, {e.width, e.height, e.depth}, stream,
              true);
}
}
