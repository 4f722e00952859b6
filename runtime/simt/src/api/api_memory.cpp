// Allocation: device, pinned, managed and pooled memory, and what a pointer is.
#include <algorithm>
#include <map>

#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "device/devices.hpp"
#include "device/symbols.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

using namespace ridge::simt;
using api::call;
using api::Safety;

struct CUmemPoolHandle_st {
  int device = 0;
  unsigned long long release_threshold = 0;
  int reuse[3] = {1, 1, 1};
};

namespace {

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

cudaError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind, int device = current_device()) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  *pointer = DeviceMemory::instance().allocate(bytes, kind, device);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  if (Trace::on()) Trace::allocated(*DeviceMemory::instance().find(address_of(*pointer)));
  // The host may write to the other kinds without a call.
  if (Sanitizer::enabled()) Sanitizer::allocated(address_of(*pointer), bytes, kind != MemoryKind::device);
  return cudaSuccess;
}

// The live allocation that starts at `pointer`, of the kinds that the call frees.
bool starts(const void* pointer, std::initializer_list<MemoryKind> kinds) {
  const Allocation* a = DeviceMemory::instance().find(address_of(pointer));
  return a != nullptr && a->begin == address_of(pointer) && !a->leaving &&
         std::find(kinds.begin(), kinds.end(), a->kind) != kinds.end();
}

cudaError_t release(Engine& engine, void* pointer, std::initializer_list<MemoryKind> kinds) {
  if (pointer == nullptr) return cudaSuccess;
  // Device memory goes when its device is done; the other kinds are every device's.
  const Allocation* a = DeviceMemory::instance().find(address_of(pointer));
  if (a != nullptr && a->kind == MemoryKind::device)
    engine.wait_device("cudaFree", a->device);
  else
    engine.wait_all("cudaFree");
  if (!starts(pointer, kinds)) return cudaErrorInvalidValue;
  if (Sanitizer::enabled()) Sanitizer::freed(address_of(pointer));
  Trace::freed(address_of(pointer));
  return DeviceMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

struct DevicePools {
  CUmemPoolHandle_st own;
  CUmemPoolHandle_st* current = &own;
};
DevicePools& pools_of(int device) {
  static auto* all = new std::map<int, DevicePools>;
  DevicePools& found = (*all)[device];
  found.own.device = device;
  return found;
}
Handles<CUmemPoolHandle_st>& pools() {
  static auto* handles = new Handles<CUmemPoolHandle_st>;
  return *handles;
}
bool is_pool(CUmemPoolHandle_st* pool) {
  for (int d = 0; d < device_count(); ++d)
    if (pool == &pools_of(d).own) return true;
  return pools().alive(pool);
}

// On the device of the pool, or of the stream where none is given.
cudaError_t allocate_async(Engine& engine, void** pointer, std::size_t bytes, cudaStream_t stream,
                           const CUmemPoolHandle_st* pool = nullptr) {
  CUstream_st* s = engine.streams.find(stream);
  if (s == nullptr) return cudaErrorInvalidResourceHandle;
  if (api::capturing(*s)) return cudaErrorNotSupported;
  const int device = pool != nullptr ? pool->device : pools_of(s->device).current->device;
  if (cudaError_t error = allocate(pointer, bytes, MemoryKind::device, device); error != cudaSuccess || bytes == 0) {
    // Frees that are queued may make room, as they would in the pool of a GPU.
    if (error != cudaErrorMemoryAllocation) return error;
    engine.drain();
    if ((error = allocate(pointer, bytes, MemoryKind::device, device))) return error;
  }
  DeviceMemory::instance().mark_pooled(*pointer);
  return api::enqueue(*s, {}, "cudaMallocAsync", device_profile().event_call);
}

bool is_managed(const void* pointer, std::size_t bytes) {
  const Allocation* a = DeviceMemory::instance().find(address_of(pointer));
  return a != nullptr && a->kind == MemoryKind::managed && bytes <= a->end - address_of(pointer);
}

bool valid_location(cudaMemLocation where) {
  return where.type == cudaMemLocationTypeHost || (where.type == cudaMemLocationTypeDevice && is_device(where.id)) ||
         where.type == cudaMemLocationTypeHostNuma || where.type == cudaMemLocationTypeHostNumaCurrent;
}

}  // namespace

cudaError_t ridge::simt::api::graph_memory(void** pointer, std::size_t bytes, int device) {
  if (cudaError_t error = allocate(pointer, bytes, MemoryKind::device, device)) return error;
  if (Sanitizer::enabled()) Sanitizer::freed(address_of(*pointer));  // it counts as no leak
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaMalloc(void** p, size_t bytes) {
  return call(Safety::not_in_capture, [&](Engine&) { return allocate(p, bytes, MemoryKind::device); });
}

cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
  return call(Safety::not_in_capture, [&](Engine&) {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = (width + 511) / 512 * 512;
    if (height != 0 && *pitch > ~std::size_t{0} / height) return cudaErrorMemoryAllocation;
    return allocate(p, *pitch * height, MemoryKind::device);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (pitched == nullptr) return api::keep(cudaErrorInvalidValue);
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}

// Waits for all work first, as CUDA does.
cudaError_t cudaFree(void* p) {
  return call(Safety::not_in_capture, [&](Engine& engine) {
    return release(engine, p, {MemoryKind::device, MemoryKind::managed});
  });
}

cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned flags) {
  return call(Safety::not_in_capture, [&](Engine&) {
    if (flags > 7) return cudaErrorInvalidValue;
    cudaError_t error = allocate(p, bytes, MemoryKind::host);
    if (error == cudaSuccess && bytes != 0)
      DeviceMemory::instance().find(address_of(*p))->flags = flags | cudaHostAllocMapped;
    return error;
  });
}
cudaError_t cudaMallocHost(void** p, size_t bytes) { return cudaHostAlloc(p, bytes, cudaHostAllocDefault); }
cudaError_t cudaFreeHost(void* p) {
  return call(Safety::not_in_capture, [&](Engine& engine) { return release(engine, p, {MemoryKind::host}); });
}

cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned flags) {
  return call(Safety::not_in_capture, [&](Engine&) {
    if (p == nullptr || bytes == 0 || flags > 15) return cudaErrorInvalidValue;
    auto& memory = DeviceMemory::instance();
    if (memory.contains(address_of(p)) || !memory.add_registered(address_of(p), bytes, flags | cudaHostRegisterMapped))
      return cudaErrorHostMemoryAlreadyRegistered;
    return cudaSuccess;
  });
}
cudaError_t cudaHostUnregister(void* p) {
  return call(Safety::not_in_capture, [&](Engine& engine) {
    engine.wait_all("cudaHostUnregister");
    return DeviceMemory::instance().remove_registered(address_of(p)) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

// Addresses are the same on both sides.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&](Engine&) {
    auto& memory = DeviceMemory::instance();
    const Allocation* a = memory.find(address_of(host));
    bool known = (a != nullptr && a->kind == MemoryKind::host) || memory.registered(address_of(host)) != 0;
    if (device == nullptr || flags != 0 || !known) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Engine&) {
    const Allocation* a = DeviceMemory::instance().find(address_of(host));
    if (flags == nullptr || a == nullptr || a->kind != MemoryKind::host) return cudaErrorInvalidValue;
    *flags = a->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocManaged(void** p, size_t bytes, unsigned flags) {
  return call(Safety::not_in_capture, [&](Engine&) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(p, bytes, MemoryKind::managed);
  });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* p, size_t bytes, unsigned flags) {
  return call([&](Engine& engine) {
    if (engine.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    return known && is_managed(p, bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation where, unsigned flags,
                                 cudaStream_t stream) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (bytes == 0 || flags != 0 || !is_managed(p, bytes)) return cudaErrorInvalidValue;
    if (!valid_location(where)) return cudaErrorInvalidDevice;
    Allocation* a = DeviceMemory::instance().find(address_of(p));
    const bool to_device = where.type == cudaMemLocationTypeDevice;
    Work work;
    work.to_device = work.from_device = to_device ? where.id : a->device;
    work.path = to_device ? CopyPath::host_to_device : CopyPath::device_to_host;
    if (a->on_host == to_device) {  // the pages move; the bytes stay where they are
      work.kind = WorkKind::copy;
      work.to = work.from = {static_cast<char*>(const_cast<void*>(p)), bytes, bytes};
      work.extent = {bytes, 1, 1};
      DeviceMemory::instance().set_on_host(*a, !to_device);
    }
    return api::enqueue(*s, std::move(work), "cudaMemPrefetchAsync", device_profile().copy_call);
  });
}
cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation where) {
  return call([&](Engine&) {
    if (bytes == 0 || !is_managed(p, bytes) || advice < 1 || advice > 6) return cudaErrorInvalidValue;
    bool placed = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                  advice != cudaMemAdviseUnsetPreferredLocation;
    return placed && !valid_location(where) ? cudaErrorInvalidDevice : cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return call([&](Engine&) {
    if (out == nullptr || pointer == nullptr) return cudaErrorInvalidValue;
    *out = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, const_cast<void*>(pointer)};
    void* p = const_cast<void*>(pointer);
    auto& memory = DeviceMemory::instance();
    if (const Allocation* a = memory.find(address_of(p))) {
      if (a->kind == MemoryKind::device) *out = {cudaMemoryTypeDevice, a->device, p, nullptr};
      if (a->kind == MemoryKind::host) *out = {cudaMemoryTypeHost, a->device, p, p};
      if (a->kind == MemoryKind::managed) *out = {cudaMemoryTypeManaged, a->device, p, p};
    } else if (is_symbol(p)) {
      *out = {cudaMemoryTypeDevice, current_device(), p, nullptr};
    } else if (memory.registered(address_of(p)) != 0) {
      *out = {cudaMemoryTypeHost, 0, p, p};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call([&](Engine&) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    auto& memory = DeviceMemory::instance();
    *total_bytes = memory.limit();
    *free_bytes = memory.limit() - std::min(memory.limit(), memory.used(current_device()));
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t stream) {
  return call([&](Engine& engine) { return allocate_async(engine, p, bytes, stream); });
}
cudaError_t cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return call([&](Engine& engine) {
    return is_pool(pool) ? allocate_async(engine, p, bytes, stream, pool) : cudaErrorInvalidValue;
  });
}
// The memory goes when the stream gets there; kernels that use it later fault.
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (p == nullptr) return cudaSuccess;
    if (api::capturing(*s)) return cudaErrorNotSupported;
    Allocation* a = DeviceMemory::instance().find(address_of(p));
    if (!starts(p, {MemoryKind::device})) return cudaErrorInvalidValue;
    a->leaving = true;
    Work work;
    work.kind = WorkKind::release;
    work.pointer = p;
    return api::enqueue(*s, std::move(work), "cudaFreeAsync", device_profile().event_call);
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&](Engine&) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = &pools_of(device).own;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&](Engine&) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *pool = pools_of(device).current;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call([&](Engine&) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (!is_pool(pool) || pool->device != device) return cudaErrorInvalidValue;
    pools_of(device).current = pool;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return call([&](Engine&) {
    if (pool == nullptr || props == nullptr || props->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (props->location.type != cudaMemLocationTypeDevice || !is_device(props->location.id))
      return cudaErrorInvalidDevice;
    *pool = pools().make();
    (*pool)->device = props->location.id;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&](Engine&) {
    if (!pools().alive(pool)) return cudaErrorInvalidValue;
    if (DevicePools& of = pools_of(pool->device); of.current == pool) of.current = &of.own;
    pools().end(pool);
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void* value) {
  return call([&](Engine&) {
    if (!is_pool(pool) || value == nullptr) return cudaErrorInvalidValue;
    if (attr >= cudaMemPoolReuseFollowEventDependencies && attr <= cudaMemPoolReuseAllowInternalDependencies)
      pool->reuse[attr - 1] = *static_cast<int*>(value);
    else if (attr == cudaMemPoolAttrReleaseThreshold)
      pool->release_threshold = *static_cast<unsigned long long*>(value);
    else if (attr != cudaMemPoolAttrReservedMemHigh && attr != cudaMemPoolAttrUsedMemHigh)
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void* value) {
  return call([&](Engine&) {
    if (!is_pool(pool) || value == nullptr) return cudaErrorInvalidValue;
    auto& memory = DeviceMemory::instance();
    if (attr >= cudaMemPoolReuseFollowEventDependencies && attr <= cudaMemPoolReuseAllowInternalDependencies)
      *static_cast<int*>(value) = pool->reuse[attr - 1];
    else if (attr == cudaMemPoolAttrReleaseThreshold)
      *static_cast<unsigned long long*>(value) = pool->release_threshold;
    else if (attr == cudaMemPoolAttrReservedMemCurrent || attr == cudaMemPoolAttrUsedMemCurrent)
      *static_cast<unsigned long long*>(value) = memory.pool_used(pool->device);
    else if (attr == cudaMemPoolAttrReservedMemHigh || attr == cudaMemPoolAttrUsedMemHigh)
      *static_cast<unsigned long long*>(value) = memory.pool_high(pool->device);
    else
      return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}
// cudaDeviceEnablePeerAccess alone decides about access to a pool's memory.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return call([&](Engine&) {
    if (!is_pool(pool) || (count != 0 && list == nullptr)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (list[i].location.type != cudaMemLocationTypeDevice || !is_device(list[i].location.id))
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return call([&](Engine&) {
    if (!is_pool(pool) || flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice || !is_device(location->id)) return cudaErrorInvalidDevice;
    const bool may = location->id == pool->device || Peers::instance().enabled(location->id, pool->device);
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call([&](Engine&) { return is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}
}
