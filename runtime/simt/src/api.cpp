// The CUDA runtime functions of the emulator.
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "cuda_runtime_api.h"
#include "fault.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "tls.hpp"

using ridge::simt::DeviceMemory;
using ridge::simt::MemoryKind;

struct CUstream_st {
  unsigned flags;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

namespace {

std::mutex mutex;
cudaError_t last_error = cudaSuccess;
cudaError_t sticky_error = cudaSuccess;  // a fault in a kernel ends the context: every later call reports it
int dynamic_shared_limit = 48 * 1024;

cudaError_t set_error(cudaError_t error) {
  std::lock_guard lock(mutex);
  if (sticky_error != cudaSuccess) return sticky_error;
  if (error != cudaSuccess) last_error = error;
  return error;
}

// For calls that report what earlier asynchronous work did.
cudaError_t synchronize() {
  std::lock_guard lock(mutex);
  return sticky_error;
}

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return set_error(cudaErrorInvalidValue);
  if (cudaError_t error = synchronize()) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = DeviceMemory::instance().allocate(bytes, kind);
  return *pointer == nullptr ? set_error(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) return synchronize();
  return DeviceMemory::instance().free(pointer) ? synchronize() : set_error(cudaErrorInvalidValue);
}

// True where [p, p + bytes) is not inside one live allocation though it starts in the device's address space.
bool bad_range(const void* p, size_t bytes) {
  auto address = reinterpret_cast<std::uintptr_t>(p);
  auto& memory = DeviceMemory::instance();
  if (!memory.contains(address)) return false;
  std::uintptr_t end = memory.owner(address).end;
  return address > end || bytes > end - address;
}

bool is_device(const void* p) {
  auto address = reinterpret_cast<std::uintptr_t>(p);
  auto& memory = DeviceMemory::instance();
  return memory.contains(address) && memory.owner(address).kind == MemoryKind::device;
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (cudaError_t error = synchronize()) return error;
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr || bad_range(to, bytes) || bad_range(from, bytes))
    return set_error(cudaErrorInvalidValue);
  bool host_source = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  bool host_target = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  if (kind != cudaMemcpyDefault && ((host_source && is_device(from)) || (host_target && is_device(to))))
    return set_error(cudaErrorInvalidValue);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const ErrorText* find_error(cudaError_t code) {
  for (const auto& e : kErrors)
    if (e.code == code) return &e;
  return nullptr;
}

}  // namespace

namespace ridge_simt {

void launch(const char* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t, void (*run)(void*), void* closure,
            size_t closure_bytes);

void launch(const char* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t, void (*run)(void*), void* closure,
            size_t closure_bytes) {
  if (synchronize() != cudaSuccess) return;
  if (auto* runner = ridge::simt::BlockRunner::current(); runner != nullptr && runner->in_kernel()) {
    ridge::simt::Fault fault;
    fault.kind = "launch from a kernel";
    fault.detail = "launch " + std::string(kernel) + " from the host: the emulator has no dynamic parallelism";
    fault.pc = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1 -
                                          ridge::simt::program_base());
    fault.error = cudaErrorNotSupported;
    runner->fault(std::move(fault));
  }
  auto zero = [](dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (zero(grid) || zero(block) || threads > ridge::simt::kMaxThreadsPerBlock || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || grid.x > 0x7FFFFFFFu || grid.y > 65535 || grid.z > 65535) {
    set_error(cudaErrorInvalidConfiguration);
    return;
  }
  if (shared > static_cast<size_t>(dynamic_shared_limit)) {
    set_error(cudaErrorInvalidValue);
    return;
  }
  ridge::simt::LaunchConfig config{kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared};
  if (ridge::simt::run_launch(config, run, closure, closure_bytes).ok) return;
  std::lock_guard lock(mutex);
  const auto* fault = ridge::simt::last_fault();
  sticky_error = last_error = fault != nullptr ? static_cast<cudaError_t>(fault->error) : cudaErrorLaunchFailure;
}

uint3 thread_idx() {
  auto i = ridge::simt::BlockRunner::current()->thread().index;
  return {i.x, i.y, i.z};
}
uint3 block_idx() {
  auto i = ridge::simt::BlockRunner::current()->block_index();
  return {i.x, i.y, i.z};
}
dim3 block_dim() {
  auto d = ridge::simt::BlockRunner::current()->launch().block;
  return {d.x, d.y, d.z};
}
dim3 grid_dim() {
  auto d = ridge::simt::BlockRunner::current()->launch().grid;
  return {d.x, d.y, d.z};
}

}  // namespace ridge_simt

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* e = find_error(error);
  return e != nullptr ? e->name : "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* e = find_error(error);
  return e != nullptr ? e->text : "unknown error";
}
cudaError_t cudaGetLastError(void) {
  std::lock_guard lock(mutex);
  cudaError_t error = last_error;
  last_error = sticky_error;
  return error;
}
cudaError_t cudaPeekAtLastError(void) {
  std::lock_guard lock(mutex);
  return last_error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : set_error(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceSynchronize(void) { return synchronize(); }
cudaError_t cudaDeviceReset(void) {
  std::lock_guard lock(mutex);
  sticky_error = last_error = cudaSuccess;
  ridge::simt::clear_fault();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, size_t bytes) { return allocate(p, bytes, MemoryKind::device); }
cudaError_t cudaFree(void* p) { return release(p); }
cudaError_t cudaMallocHost(void** p, size_t bytes) { return allocate(p, bytes, MemoryKind::host); }
cudaError_t cudaFreeHost(void* p) { return release(p); }
cudaError_t cudaMallocManaged(void** p, size_t bytes, unsigned) { return allocate(p, bytes, MemoryKind::managed); }
cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t) { return allocate(p, bytes, MemoryKind::device); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return release(p); }
cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind) { return copy(to, from, n, kind); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t) {
  return copy(to, from, n, kind);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  if (cudaError_t error = synchronize()) return error;
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || bad_range(to, bytes)) return set_error(cudaErrorInvalidValue);
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) { return cudaMemset(to, value, bytes); }
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  auto& memory = DeviceMemory::instance();
  *total_bytes = memory.limit();
  *free_bytes = memory.limit() - memory.used();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = new CUstream_st{flags};
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return set_error(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return synchronize(); }
cudaError_t cudaStreamQuery(cudaStream_t) { return synchronize(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return synchronize(); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return set_error(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return set_error(cudaErrorInvalidResourceHandle);
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  return synchronize();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return synchronize(); }
cudaError_t cudaEventQuery(cudaEvent_t) { return synchronize(); }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded)
    return set_error(cudaErrorInvalidResourceHandle);
  *ms = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return synchronize();
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attr, int value) {
  if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > static_cast<int>(ridge::simt::kDynamicSharedMax)) return set_error(cudaErrorInvalidValue);
  if (value > dynamic_shared_limit) dynamic_shared_limit = value;
  return cudaSuccess;
}
}
