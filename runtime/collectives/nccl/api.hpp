// Helpers that the files of NCCL's interface share.
#pragma once
#include <mutex>
#include <utility>

#include "api/api.hpp"
#include "communicator.hpp"
#include "device/fault.hpp"

namespace ridge::collectives::api {

// Why this thread may not call now: it runs a kernel or a host function, or a kernel has failed.
inline ncclResult_t refused() {
  if (simt::api::refusal() != cudaSuccess) return fail(ncclInvalidUsage, "not inside a kernel or a host function");
  return ncclSuccess;
}

// The frame of calls that take the engine's lock.
template <class Body>
ncclResult_t locked(Body body) {
  if (ncclResult_t r = refused()) return r;
  simt::Engine& engine = simt::Engine::instance();
  std::lock_guard lock(engine.mutex);
  if (engine.sticky_error() != 0) return fail(ncclUnhandledCudaError, "a kernel has failed earlier");
  Ranks::instance().note_thread();
  return body();
}

}  // namespace ridge::collectives::api
