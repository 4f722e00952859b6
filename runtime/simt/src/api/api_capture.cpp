// Stream capture: work that goes into a graph instead of the queue.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "api/graph.hpp"
#include "stream/device_log.hpp"

using namespace ridge::simt;
using api::call;
using api::Safety;

namespace ridge::simt::api {

namespace {

std::vector<std::unique_ptr<Capture>>& captures() {
  static auto* all = new std::vector<std::unique_ptr<Capture>>;
  return *all;
}

std::unordered_map<std::thread::id, cudaStreamCaptureMode>& thread_modes() {
  static auto* modes = new std::unordered_map<std::thread::id, cudaStreamCaptureMode>;
  return *modes;
}

cudaError_t status_of(const CUstream_st& stream) {
  return stream.capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

void add_unique(std::vector<CUgraphNode_st*>& to, const std::vector<CUgraphNode_st*>& nodes) {
  for (CUgraphNode_st* n : nodes)
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
}

// The nodes, and all that they wait for.
std::unordered_set<const CUgraphNode_st*> with_ancestors(const std::vector<CUgraphNode_st*>& nodes) {
  std::unordered_set<const CUgraphNode_st*> found;
  std::vector<const CUgraphNode_st*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const CUgraphNode_st* node = open.back();
    open.pop_back();
    if (found.insert(node).second) open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return found;
}

}  // namespace

bool capturing(const CUstream_st& stream) { return stream.capture != nullptr; }

cudaError_t capture_forbids() {
  const std::thread::id self = std::this_thread::get_id();
  const cudaStreamCaptureMode own = thread_modes()[self];
  if (own == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  bool forbidden = false;
  for (const auto& c : captures()) {
    const bool mine = c->thread == self && c->mode != cudaStreamCaptureModeRelaxed;
    if (!mine && !(own == cudaStreamCaptureModeGlobal && c->mode == cudaStreamCaptureModeGlobal)) continue;
    forbidden = c->invalid = true;
  }
  return forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t device_wait_forbidden() {
  // Streams of this device only: other threads capture on other devices meanwhile.
  bool forbidden = false;
  for (const auto& c : captures())
    if (std::any_of(c->streams.begin(), c->streams.end(),
                    [](const CUstream_st* s) { return s->device == current_device(); }))
      forbidden = c->invalid = true;
  return forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t legacy_use(CUstream_st& stream) {
  if (!stream.legacy) return cudaSuccess;
  bool forbidden = false;
  for (const auto& c : captures())
    if (std::any_of(c->streams.begin(), c->streams.end(),
                    [&](const CUstream_st* s) { return s->blocking && s->device == stream.device; }))
      forbidden = c->invalid = true;
  return forbidden ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t capture_refuses_wait(CUstream_st& stream) {
  if (!capturing(stream)) return legacy_use(stream);
  stream.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t capture_refuses_wait(CUevent_st& event) {
  if (event.capture == nullptr) return capture_forbids();
  event.capture->invalid = true;
  return cudaErrorCapturedEvent;
}

cudaError_t capture_work(CUstream_st& stream, Work work) {
  if (cudaError_t error = status_of(stream)) return error;
  const cudaGraphNodeType type = node_type(work.kind);
  work.device = stream.device;
  work.callers = Trace::callers();
  CUgraphNode_st* node = add_node(*stream.capture->graph, type, std::move(work), stream.capture_tail);
  stream.capture_tail = {node};
  return cudaSuccess;
}

cudaError_t capture_record(CUstream_st& stream, CUevent_st& event) {
  if (cudaError_t error = status_of(stream)) return error;
  event.capture = stream.capture;
  event.capture_nodes = stream.capture_tail;
  return cudaSuccess;
}

cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event, bool& handled) {
  handled = true;
  if (event.capture == nullptr) {
    handled = capturing(stream);
    if (!handled) return cudaSuccess;
    // A captured stream cannot wait for work outside of the graph.
    if (cudaError_t error = status_of(stream)) return error;
    if (event.record == nullptr) return cudaSuccess;
    stream.capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (event.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (capturing(stream) && stream.capture != event.capture) {
    stream.capture->invalid = event.capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (!capturing(stream)) {
    if (stream.legacy) {
      event.capture->invalid = true;
      return cudaErrorStreamCaptureImplicit;
    }
    stream.capture = event.capture;
    stream.capture->streams.push_back(&stream);
  }
  add_unique(stream.capture_tail, event.capture_nodes);
  return cudaSuccess;
}

}  // namespace ridge::simt::api

namespace {

// Ends the capture: streams and events forget it.
std::unique_ptr<Capture> take(Engine& engine, Capture* capture) {
  for (CUstream_st* s : capture->streams) {
    s->capture = nullptr;
    s->capture_tail.clear();
  }
  for (CUevent_st* e : engine.events.live())
    if (e->capture == capture) {
      e->capture = nullptr;
      e->capture_nodes.clear();
    }
  auto& all = api::captures();
  auto at = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.get() == capture; });
  auto taken = std::move(*at);
  all.erase(at);
  return taken;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](Engine& engine) {
    static unsigned long long ids = 0;
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (s->legacy) return cudaErrorStreamCaptureUnsupported;  // the legacy stream
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (s->capture != nullptr) return cudaErrorIllegalState;
    auto capture = std::make_unique<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = s;
    capture->streams = {s};
    capture->id = ++ids;
    s->capture = capture.get();
    s->capture_tail.clear();
    api::captures().push_back(std::move(capture));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = nullptr;
    if (s->capture == nullptr) return cudaErrorIllegalState;
    Capture* capture = s->capture;
    if (capture->origin != s) {
      capture->invalid = true;
      return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
      return cudaErrorStreamCaptureWrongThread;
    // Every stream that joined must lead back to this one.
    const auto reached = api::with_ancestors(s->capture_tail);
    bool joined = true;
    for (const CUstream_st* other : capture->streams)
      for (const CUgraphNode_st* tail : other->capture_tail) joined = joined && reached.count(tail) != 0;
    auto taken = take(engine, capture);
    if (taken->invalid) return cudaErrorStreamCaptureInvalidated;
    if (!joined) return cudaErrorStreamCaptureUnjoined;
    *graph = adopt(std::move(*taken->graph));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* dependency_count) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t error = s->capture == nullptr ? api::legacy_use(*s) : cudaSuccess) return error;
    *status = s->capture == nullptr ? cudaStreamCaptureStatusNone
              : s->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (id != nullptr) *id = s->capture->id;
    if (graph != nullptr) *graph = s->capture->graph.get();
    if (dependencies != nullptr) *dependencies = s->capture_tail.data();
    if (edges != nullptr) {  // the next node waits for the end of these nodes: zeros
      auto& data = s->capture->edges[s];
      data.assign(s->capture_tail.size(), cudaGraphEdgeData{});
      *edges = data.data();
    }
    if (dependency_count != nullptr) *dependency_count = s->capture_tail.size();
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](Engine&) {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    std::swap(*mode, api::thread_modes()[std::this_thread::get_id()]);
    return cudaSuccess;
  });
}
}
