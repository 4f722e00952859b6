// The emulator's side of a call of the judge: its begin and end among the operations of its stream, and the handles
// that it leaves.
#include <sys/mman.h>

#include "api/api.hpp"
#include "api/graph.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "launch/launch.hpp"
#include "simt.hpp"
#include "stream/engine.hpp"

namespace ridge::simt {

void set_order(std::uint64_t seed) {
  set_lane_order(seed);
  set_queue_order(seed);
}

std::vector<LaunchRecord> take_launches() {
  drain();
  return take_finished_launches();
}

void* map_buffer(int fd, std::size_t bytes, bool writable, BufferPlace place) {
  if (place != BufferPlace::pageable)
    return DeviceMemory::instance().map(fd, bytes, writable,
                                        place == BufferPlace::device ? MemoryKind::device : MemoryKind::host,
                                        place == BufferPlace::kept);
  void* p = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  return p == MAP_FAILED ? nullptr : p;
}

namespace {

void note(cudaStream_t stream, const char* name) {
  if (!Trace::on()) return;
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  CUstream_st* s = engine.streams.find(stream);
  if (s != nullptr && !api::capturing(*s)) engine.submit(*s, {}, name, 0);
}

}  // namespace

void call_begins(cudaStream_t stream) { note(stream, trace::kCallBegins); }
void call_ends(cudaStream_t stream) { note(stream, trace::kCallEnds); }

std::string launch_in_words(const Callers& callers) {
  constexpr int kMost = 6;
  std::string text;
  int told = 0;
  for (std::uint32_t c : callers)
    if (c != 0 && told < kMost && Program::instance().own_code(program_base() + c)) {
      char one[16];
      std::snprintf(one, sizeof one, " %x", c);
      text += one, ++told;
    }
  return text.empty() ? "" : " [launched by" + text + "]";
}

std::string refused_in_words(int& error) {
  const api::RefusedCall r = api::refused_call();
  if (r.error == cudaSuccess) return {};
  error = r.error;
  return std::string(cudaGetErrorString(r.error)) + (r.why.empty() ? "" : ": " + r.why) + launch_in_words(r.callers);
}

LiveHandles live_handles() {
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  std::size_t page_locked = 0;
  DeviceMemory::instance().for_host_visible(
      [&](const Allocation& a) { page_locked += a.kind == MemoryKind::host && !a.mapped ? 1 : 0; });
  return {engine.streams.live(), engine.events.live().size(), graphs().live().size() + live_executables(), page_locked};
}

}  // namespace ridge::simt
