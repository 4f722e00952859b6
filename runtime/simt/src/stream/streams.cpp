#include "stream/streams.hpp"

#include <cstdint>
#include <string>

#include "device/devices.hpp"
#include "device/program.hpp"
#include "stream/device_log.hpp"
#include "stream/timeline.hpp"

namespace ridge::simt {

namespace {

// What a row's name ends with.
std::string of_device(const CUstream_st& stream) {
  return device_count() == 1 ? "" : " of device " + std::to_string(stream.device);
}

}  // namespace

Streams::Streams() : next_(device_count()) {
  for (int d = 0; d < device_count(); ++d) {
    legacy_.push_back(std::make_unique<CUstream_st>());
    legacy_.back()->id = legacy_.back()->device = d;
    legacy_.back()->legacy = true;
    Timeline::instance().name_row(d, {"default stream" + of_device(*legacy_.back()), ""});
  }
}

CUstream_st* Streams::find(CUstream_st* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value <= 1) return &legacy(current_device());  // 0 and cudaStreamLegacy
  if (value == 2) {                                  // cudaStreamPerThread
    const int device = current_device();
    CUstream_st*& own = per_thread_[{std::this_thread::get_id(), device}];
    if (own == nullptr) {
      own = make(0, 0, device);
      name(*own, "cudaStreamPerThread");
    }
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
  if (Timeline::instance().on() || Trace::on()) s->made_at = Program::instance().own_caller(callers_here());
  if (s->made_at != 0)
    for (const CUstream_st* other : streams_.live())
      if (other != s && other->made_at == s->made_at) ++s->nth;
  name(*s, "");
  return s;
}

void Streams::name(const CUstream_st& s, const std::string& name) {
  Timeline::instance().name_row(s.id, {"stream " + std::to_string(s.id) + of_device(s), name, s.made_at, s.nth});
  Trace::stream(s.id, name, s.made_at, s.nth);
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
