// Declarations that the files of the runtime API share.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include "cuda_runtime_api.h"
#include "device/devices.hpp"
#include "device/fault.hpp"
#include "device/memory.hpp"
#include "ridge_simt/host_api.h"
#include "stream/engine.hpp"

namespace ridge::simt::api {

// Remembers `error` for cudaGetLastError of this thread, and returns it.
cudaError_t keep(cudaError_t error);
void forget();  // drops the errors of all threads
// Gives the reason, in words, of the error that is kept next.
void explain(std::string why);
// The first call since the last cudaGetLastError that was refused.
struct RefusedCall {
  cudaError_t error = cudaSuccess;
  std::string why;  // empty where nobody explained it
  Callers callers{};
};
RefusedCall refused_call();
// The error of a fault, which every later call returns.
cudaError_t sticky();
// Why the calling thread may not use the API now (inside a kernel or a host function), or cudaSuccess.
cudaError_t refusal();

// Stream capture: calls that could wait for captured work are refused while a capture forbids them, and end it.
enum class Safety { any_time, not_in_capture };
cudaError_t capture_forbids();
cudaError_t device_wait_forbidden();  // as above, for waits for the whole device, in every capture mode

// The frame of every call: takes the engine's lock, reports an earlier fault, and keeps the error that `body` returns.
template <class Body>
cudaError_t call(Safety safety, Body body) {
  if (cudaError_t error = refusal()) return error;
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.used = true;
  if (cudaError_t error = sticky()) return keep(error);
  if (safety == Safety::not_in_capture)
    if (cudaError_t error = capture_forbids()) return keep(error);
  cudaError_t error = body(engine);
  if (cudaError_t fault = sticky()) error = fault;
  return keep(error);
}
template <class Body>
cudaError_t call(Body body) {
  return call(Safety::any_time, std::move(body));
}

// Queues `work` in a live stream, or adds it to the graph that the stream is captured into. `operation` may be null; it
// stays empty in a capture.
cudaError_t enqueue(CUstream_st& stream, Work work, const char* name, double seconds,
                    OperationPtr* operation = nullptr);
// True while the stream is captured; such a stream cannot be waited for.
bool capturing(const CUstream_st& stream);

// The part that captures have in records, waits and queries (api_capture.cpp).
cudaError_t capture_work(CUstream_st& stream, Work work);
cudaError_t capture_record(CUstream_st& stream, CUevent_st& event);
// `handled` false: neither the stream nor the event has to do with a capture.
cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event, bool& handled);
cudaError_t capture_refuses_wait(CUstream_st& stream);  // a query or synchronisation of a captured stream
cudaError_t capture_refuses_wait(CUevent_st& event);
cudaError_t legacy_use(CUstream_st& stream);  // work for the legacy stream while others are captured

// A copy or a fill as work; checks pointers, ranges and directions.
cudaError_t copy_work(Work& work, Box to, Box from, Extent extent, cudaMemcpyKind kind);
// Queues a copy. With `async` false it waits as cudaMemcpy does, mostly until the copy has ended.
cudaError_t submit_copy(Engine& engine, const char* name, Work work, cudaStream_t stream, bool async);
// The whole call of a copy, with its checks: `name` is the function that the program called.
cudaError_t copy(const char* name, Box to, Box from, Extent extent, cudaMemcpyKind kind, cudaStream_t stream,
                 bool async);
// Queues a copy between devices in a default stream.
cudaError_t submit_default_peer_copy(Engine& engine, const char* name, CUstream_st& stream, Work work);
// Allocates memory of a graph: it is never freed, and counts as no leak.
cudaError_t graph_memory(void** pointer, std::size_t bytes, int device);
cudaError_t fill_work(Work& work, Box to, unsigned value, unsigned element_size, Extent extent);

// How a kernel is launched besides its shape.
struct LaunchMode {
  bool cooperative = false;
  Index3 cluster = {0, 0, 0};  // blocks of a cluster; zeros: as the kernel says, or none
  LaunchMode(bool cooperative_, Index3 cluster_ = {0, 0, 0}) : cooperative(cooperative_), cluster(cluster_) {}
};
// A kernel as work. `function` 0: the launch does not say which one it calls.
cudaError_t kernel_work(Work& work, const char* name, dim3 grid, dim3 block, std::size_t shared,
                        std::uintptr_t function, LaunchMode mode);
// A kernel that is known by its address alone, with its arguments as void**.
cudaError_t kernel_work(Work& work, const void* function, dim3 grid, dim3 block, std::size_t shared, void** arguments,
                        LaunchMode mode);
// The stream of a handle if a kernel may be launched there now: null for streams of devices that are not current.
CUstream_st* launch_stream(Engine& engine, cudaStream_t handle);
// Queues a launch of such a kernel.
cudaError_t launch(Engine& engine, const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream, LaunchMode mode);
std::shared_ptr<void> closure_memory(std::size_t bytes);  // holds a kernel's arguments
std::size_t dynamic_shared_limit(std::uintptr_t function);

}  // namespace ridge::simt::api
