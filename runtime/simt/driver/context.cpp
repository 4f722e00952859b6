// Devices and contexts. A context is a device and a place in a thread's stack: all contexts of a device share its
// memory and streams here, as users of the primary one do.
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "driver/driver.hpp"
#include "stream/engine.hpp"

struct CUctx_st {
  int device;
  unsigned flags;
  bool primary, destroyed;
};

namespace ridge::simt::driver {

namespace {

struct Contexts {
  std::mutex mutex;
  bool initialised = false;
  std::unordered_map<std::thread::id, std::vector<CUctx_st*>> stacks;
  std::unordered_map<int, CUctx_st*> primary;
  std::unordered_map<int, int> users;  // of the primary contexts
};
Contexts& contexts() {
  static auto* all = new Contexts;
  return *all;
}

std::vector<CUctx_st*>& stack() { return contexts().stacks[std::this_thread::get_id()]; }

CUctx_st* primary_of(int device) {
  CUctx_st*& c = contexts().primary[device];
  if (c == nullptr) c = new CUctx_st{device, 0, true, false};
  return c;
}

// A question about devices makes no context, though the runtime API answers it.
class MakesNoContext {
 public:
  MakesNoContext() : used_(Engine::instance().used) {}
  ~MakesNoContext() { Engine::instance().used = used_; }
  MakesNoContext(const MakesNoContext&) = delete;

 private:
  bool used_;
};

CUresult device_there(CUdevice device) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return CUDA_ERROR_NO_DEVICE;
  return device >= 0 && device < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

template <class Body>
CUresult of_device(CUdevice device, const void* out, Body body) {
  const MakesNoContext question;
  if (const CUresult error = device_there(device); error != CUDA_SUCCESS) return error;
  return out == nullptr ? CUDA_ERROR_INVALID_VALUE : body();
}

}  // namespace

// The runtime API initialises the driver, too.
bool initialised() { return contexts().initialised || Engine::instance().used; }

CUresult ready() {
  Contexts& all = contexts();
  std::lock_guard lock(all.mutex);
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  auto& own = stack();
  // A program that uses the runtime API as well has the primary context.
  if (own.empty()) return Engine::instance().used ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  if (own.back()->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  int device = 0;
  cudaGetDevice(&device);
  if (device != own.back()->device) cudaSetDevice(own.back()->device);
  return CUDA_SUCCESS;
}

CUresult result_of(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case 16:  // cudaErrorInvalidHostPointer
    case 17:  // cudaErrorInvalidDevicePointer
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);
  }
}

}  // namespace ridge::simt::driver

using namespace ridge::simt::driver;

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const MakesNoContext question;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return CUDA_ERROR_NO_DEVICE;
  contexts().initialised = true;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) { return result_of(cudaDriverGetVersion(version)); }

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return of_device(ordinal, device, [&] { return *device = ordinal, CUDA_SUCCESS; });
}
CUresult cuDeviceGetCount(int* count) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  const MakesNoContext question;
  return count == nullptr ? CUDA_ERROR_INVALID_VALUE : result_of(cudaGetDeviceCount(count));
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return of_device(device, name, [&] {
    cudaDeviceProp p;
    if (bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
    std::strncpy(name, p.name, static_cast<std::size_t>(bytes) - 1);
    name[bytes - 1] = 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return of_device(device, bytes, [&] {
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    *bytes = error == cudaSuccess ? p.totalGlobalMem : 0;
    return result_of(error);
  });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return of_device(device, value, [&] {
    return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult error = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return error != CUDA_SUCCESS ? error
                               : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
CUresult cuDeviceGetProperties(CUdevprop* out, CUdevice device) {
  return of_device(device, out, [&] {
    cudaDeviceProp p;
    if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return result_of(error);
    *out = {};
    out->maxThreadsPerBlock = p.maxThreadsPerBlock;
    for (int i = 0; i < 3; ++i) out->maxThreadsDim[i] = p.maxThreadsDim[i], out->maxGridSize[i] = p.maxGridSize[i];
    out->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    out->totalConstantMemory = static_cast<int>(p.totalConstMem);
    out->SIMDWidth = p.warpSize;
    out->memPitch = static_cast<int>(p.memPitch);
    out->regsPerBlock = p.regsPerBlock;
    cudaDeviceGetAttribute(&out->clockRate, cudaDevAttrClockRate, device);
    out->textureAlign = static_cast<int>(p.textureAlignment);
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return of_device(device, uuid, [&] {
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    std::memcpy(uuid, &p.uuid, sizeof *uuid);
    return result_of(error);
  });
}
CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  return of_device(device, id, [&] { return result_of(cudaDeviceGetPCIBusId(id, bytes, device)); });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return of_device(device, can, [&] { return result_of(cudaDeviceCanAccessPeer(can, device, peer)); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return of_device(device, context, [&] {
    std::lock_guard lock(contexts().mutex);
    *context = primary_of(device);
    ++contexts().users[device];
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return of_device(device, &device, [&] {
    std::lock_guard lock(contexts().mutex);
    int& users = contexts().users[device];
    if (users == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --users;
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return of_device(device, &device, [&] {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device);
    const cudaError_t error = cudaDeviceReset();
    cudaSetDevice(before);
    return result_of(error);
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return of_device(device, &device, [&] {
    std::lock_guard lock(contexts().mutex);
    primary_of(device)->flags = flags;
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return of_device(device, flags, [&] {
    std::lock_guard lock(contexts().mutex);
    *flags = primary_of(device)->flags;
    if (active != nullptr) *active = contexts().users[device] > 0 ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult ridge_cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return of_device(device, context, [&] {
    std::lock_guard lock(contexts().mutex);
    *context = new CUctx_st{device, flags, false, false};
    stack().push_back(*context);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxDestroy(CUcontext context) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr || context->destroyed || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  cudaSetDevice(context->device);
  cudaDeviceSynchronize();
  std::lock_guard lock(contexts().mutex);
  context->destroyed = true;  // other threads may have it on their stacks
  if (auto& own = stack(); !own.empty() && own.back() == context) own.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr || context->destroyed) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(contexts().mutex);
  stack().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard lock(contexts().mutex);
  auto& own = stack();
  if (own.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = own.back();
  own.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context != nullptr && context->destroyed) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(contexts().mutex);
  auto& own = stack();
  if (!own.empty()) own.pop_back();
  if (context != nullptr) own.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(contexts().mutex);
  *context = stack().empty() ? nullptr : stack().back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return runtime([&] { return cudaGetDevice(device); });
}
CUresult cuCtxGetFlags(unsigned* flags) {
  CUcontext current = nullptr;
  if (const CUresult error = cuCtxGetCurrent(&current); error != CUDA_SUCCESS) return error;
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = current->flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  if (!initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020;  // as every driver since CUDA 3.2 says
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return runtime([] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return runtime([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return runtime([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return runtime([&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return runtime([&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return runtime([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return runtime([&] { return cudaDeviceEnablePeerAccess(peer->device, flags); });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return runtime([&] { return cudaDeviceDisablePeerAccess(peer->device); });
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
  if (to_context == nullptr || from_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return runtime(
      [&] { return cudaMemcpyPeer(pointer(to), to_context->device, pointer(from), from_context->device, bytes); });
}
CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return cuCtxGetCurrent(context);
}
}
