// Streams, events and host functions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "device/host_access.hpp"
#include "nvtx3/nvToolsExtCudaRt.h"

using namespace ridge::simt;
using api::call;
using api::Safety;

namespace ridge::simt::api {

cudaError_t enqueue(CUstream_st& stream, Work work, const char* name, double seconds, OperationPtr* operation) {
  if (capturing(stream)) return capture_work(stream, std::move(work));
  if (cudaError_t error = legacy_use(stream)) return error;
  OperationPtr op = Engine::instance().submit(stream, std::move(work), name, seconds);
  if (operation != nullptr) *operation = std::move(op);
  if (host_library) Engine::instance().drain();
  return cudaSuccess;
}

}  // namespace ridge::simt::api

namespace {

// Least and greatest priority, as on all NVIDIA GPUs with five levels.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t host_work(cudaStream_t stream, std::function<void(int)> function, bool after_error) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (after_error && api::capturing(*s)) return api::capture_refuses_wait(*s);  // callbacks cannot be captured
    Work work;
    work.kind = WorkKind::host;
    work.call = std::move(function);
    work.call_after_error = after_error;
    return api::enqueue(*s, std::move(work), "cudaLaunchHostFunc", device_profile().launch_call);
  });
}

template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body body) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    return s == nullptr ? cudaErrorInvalidResourceHandle : body(engine, *s);
  });
}

template <class Body>
cudaError_t with_event(cudaEvent_t event, Body body) {
  return call([&](Engine& engine) {
    return engine.events.alive(event) ? body(engine, *event) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Engine& engine) {
    if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = engine.streams.make(flags, std::clamp(priority, kGreatestPriority, kLeastPriority), current_device());
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Engine&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

void nvtxNameCudaStreamA(cudaStream_t stream, const char* name) {
  constexpr std::size_t kMost = 64;
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  if (name == nullptr || value <= 1) return;  // default streams keep their names
  const std::string kept = std::string(name).substr(0, kMost);
  with_stream(stream, [&](Engine& engine, CUstream_st& s) {
    engine.streams.name(s, kept);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  if (value <= 2) return api::keep(cudaErrorInvalidResourceHandle);
  return with_stream(stream, [](Engine& engine, CUstream_st& s) {
    if (api::capturing(s)) return api::capture_refuses_wait(s);
    engine.end_stream(&s);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_stream(stream, [](Engine& engine, CUstream_st& s) {
    if (cudaError_t error = api::capture_refuses_wait(s)) return error;
    engine.wait_stream("cudaStreamSynchronize", s);
    return cudaSuccess;
  });
}

// A query makes progress: a loop of queries comes to its end.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [](Engine& engine, CUstream_st& s) {
    if (cudaError_t error = api::capture_refuses_wait(s)) return error;
    for (const auto& op : engine.streams.predecessors(s))
      if (!engine.progress("cudaStreamQuery", op)) return cudaErrorNotReady;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr || !engine.events.alive(event)) return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    bool handled = false;
    cudaError_t error = api::capture_wait(*s, *event, handled);
    if (handled || error != cudaSuccess) return error;
    if ((error = api::legacy_use(*s))) return error;
    if (event->record == nullptr) {  // never recorded: nothing to wait for
      engine.waits_for_nothing(s->id);
      return cudaSuccess;
    }
    Work work;
    work.kind = WorkKind::wait;
    engine.submit(*s, std::move(work), "cudaStreamWaitEvent", device_profile().event_call, {event->record});
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with_stream(stream, [&](Engine&, CUstream_st& s) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = s.flags;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_stream(stream, [&](Engine&, CUstream_st& s) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = s.priority;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_stream(stream, [&](Engine&, CUstream_st& s) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = static_cast<unsigned long long>(s.id) + 1;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return with_stream(stream, [&](Engine&, CUstream_st& s) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = s.device;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  if (function == nullptr) return api::keep(cudaErrorInvalidValue);
  return host_work(
      stream, [=](int) { function(user_data); }, false);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags) {
  if (callback == nullptr || flags != 0) return api::keep(cudaErrorInvalidValue);
  return host_work(
      stream, [=](int error) { callback(stream, static_cast<cudaError_t>(error), user_data); }, true);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Engine& engine) {
    const bool alone = (flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0;
    if (event == nullptr || flags > 7 || alone) return cudaErrorInvalidValue;
    *event = engine.events.make();
    (*event)->device = current_device();
    (*event)->flags = flags;
    if ((flags & cudaEventDisableTiming) == 0) engine.count();
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_event(event, [](Engine& engine, CUevent_st& e) {
    engine.events.end(&e);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return with_event(event, [&](Engine& engine, CUevent_st& e) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr || s->device != e.device) return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    if (api::capturing(*s)) return api::capture_record(*s, e);
    if (cudaError_t error = api::legacy_use(*s)) return error;
    e.capture = nullptr;
    e.capture_nodes.clear();
    Work work;
    work.kind = WorkKind::record;
    e.record = engine.submit(*s, std::move(work), "cudaEventRecord", device_profile().event_call);
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event(event, [](Engine& engine, CUevent_st& e) {
    if (cudaError_t error = api::capture_refuses_wait(e)) return error;
    if (e.record != nullptr) engine.wait("cudaEventSynchronize", {e.record});
    return cudaSuccess;
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event(event, [](Engine& engine, CUevent_st& e) {
    if (cudaError_t error = api::capture_refuses_wait(e)) return error;
    return engine.progress("cudaEventQuery", e.record) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Engine& engine) {
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (!engine.events.alive(start) || !engine.events.alive(end) || start->record == nullptr ||
        end->record == nullptr || start->device != end->device ||
        ((start->flags | end->flags) & cudaEventDisableTiming) != 0)
      return cudaErrorInvalidResourceHandle;
    if (start->capture != nullptr || end->capture != nullptr) return cudaErrorCapturedEvent;
    if (!engine.progress("cudaEventElapsedTime", start->record) ||
        !engine.progress("cudaEventElapsedTime", end->record))
      return cudaErrorNotReady;
    engine.settle(start->record->number > end->record->number ? start->record : end->record);
    *ms = static_cast<float>((end->record->end - start->record->end) * 1e3);
    return cudaSuccess;
  });
}
}
