// Waits of the host: they run queued operations and move the host's virtual clock.
#include <algorithm>
#include <utility>

#include "device/device_profile.hpp"
#include "device/devices.hpp"
#include "stream/engine.hpp"

namespace ridge::simt {

void Engine::wait(const char* call, std::vector<OperationPtr> operations) {
  operations.erase(std::remove(operations.begin(), operations.end(), nullptr), operations.end());
  run_until(operations, pending_.next_wait_is_lazy());
  time_.wait(call, std::move(operations), device_profile().sync_call);
}

void Engine::wait_stream(const char* call, CUstream_st& stream) {
  wait(call, stream.legacy ? streams.predecessors(stream) : std::vector<OperationPtr>{stream.tail});
}

void Engine::wait_all(const char* call) {
  run_until(pending_.all(), false);
  wait_streams(call, streams.all());
}

void Engine::wait_device(const char* call, int device) {
  if (device_count() == 1) return wait_all(call);
  run_until(pending_.those([device](const Operation& op) { return op.work.device == device; }),
            pending_.next_wait_is_lazy());
  std::vector<CUstream_st*> own = streams.all();
  std::erase_if(own, [device](const CUstream_st* s) { return s->device != device; });
  wait_streams(call, own);
}

void Engine::wait_streams(const char* call, const std::vector<CUstream_st*>& waited) {
  std::vector<OperationPtr> tails;
  for (CUstream_st* s : waited)
    if (s->tail != nullptr) tails.push_back(s->tail);
  time_.wait(call, std::move(tails), device_profile().sync_call);
}

bool Engine::progress(const char* call, const OperationPtr& op) {
  if (op == nullptr) return true;
  if (op->done) {
    time_.wait(call, {op}, 0);
    return true;
  }
  time_.issue(call, nullptr, device_profile().event_call);
  // Any one of the operations that it waits for.
  OperationPtr next = op;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const auto& before : next->after)
      if (!before->done) {
        next = before;
        deeper = true;
        break;
      }
  }
  run_until({next}, true);
  return false;
}

void Engine::drain() { run_until(std::vector<OperationPtr>(pending_.all()), false); }

void Engine::settle(const OperationPtr& op) {
  run_until(pending_.those([&](const Operation& p) { return p.number <= op->number; }), true);
}

void Engine::wait_for_arrival(double seconds) {
  std::unique_lock lock(mutex, std::adopt_lock);
  activity_.wait_for_arrival(lock, seconds);
  lock.release();
}

}  // namespace ridge::simt
