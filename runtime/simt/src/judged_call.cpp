// Where a call of the judge begins and ends among the operations of its stream, and what it leaves.
#include "../simt.hpp"
#include "api.hpp"
#include "graph.hpp"

namespace ridge::simt {

namespace {

void note(cudaStream_t stream, const char* name) {
  if (!Trace::on()) return;
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  CUstream_st* s = engine.stream(stream);
  if (s != nullptr && !api::capturing(*s)) engine.submit(*s, {}, name, 0);
}

}  // namespace

void call_begins(cudaStream_t stream) { note(stream, trace::kCallBegins); }
void call_ends(cudaStream_t stream) { note(stream, trace::kCallEnds); }

LiveHandles live_handles() {
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  return {engine.live_streams(), engine.events.live().size(), graphs().live().size() + live_executables()};
}

}  // namespace ridge::simt
