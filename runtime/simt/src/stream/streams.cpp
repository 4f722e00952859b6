#include "stream/streams.hpp"

#include <cstdint>
#include <string>

#include "device/devices.hpp"
#include "stream/timeline.hpp"

namespace ridge::simt {

namespace {

void name_row(const CUstream_st& stream, const std::string& name) {
  Timeline::instance().name_stream(stream.id,
                                   device_count() == 1 ? name : name + " of device " + std::to_string(stream.device));
}

}  // namespace

Streams::Streams() : next_(device_count()) {
  for (int d = 0; d < device_count(); ++d) {
    legacy_.push_back(std::make_unique<CUstream_st>());
    legacy_.back()->id = legacy_.back()->device = d;
    legacy_.back()->legacy = true;
    name_row(*legacy_.back(), "default stream");
  }
}

CUstream_st* Streams::find(CUstream_st* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value <= 1) return &legacy(current_device());  // 0 and cudaStreamLegacy
  if (value == 2) {                                  // cudaStreamPerThread
    const int device = current_device();
    CUstream_st*& own = per_thread_[{std::this_thread::get_id(), device}];
    if (own == nullptr) own = make(0, 0, device);
    return own;
  }
  return streams_.alive(handle) ? handle : nullptr;
}

CUstream_st* Streams::make(unsigned flags, int priority, int device) {
  CUstream_st* s = streams_.make();
  s->id = next_++;
  s->device = device;
  s->flags = flags;
  s->priority = priority;
  s->blocking = (flags & 1) == 0;
  name_row(*s, "stream " + std::to_string(s->id));
  return s;
}

std::vector<CUstream_st*> Streams::all() const {
  std::vector<CUstream_st*> all(streams_.live().begin(), streams_.live().end());
  for (const auto& s : legacy_) all.push_back(s.get());
  return all;
}

std::vector<OperationPtr> Streams::predecessors(const CUstream_st& stream) const {
  std::vector<OperationPtr> before;
  if (stream.tail != nullptr) before.push_back(stream.tail);
  const CUstream_st& legacy_stream = legacy(stream.device);
  if (stream.legacy) {
    for (CUstream_st* other : streams_.live())
      if (other->blocking && other->device == stream.device && other->tail != nullptr) before.push_back(other->tail);
  } else if (stream.blocking && legacy_stream.tail != nullptr) {
    before.push_back(legacy_stream.tail);
  }
  return before;
}

}  // namespace ridge::simt
