#include "stream/engine.hpp"

#include <cstdlib>
#include <memory>
#include <utility>

#include "device/devices.hpp"
#include "device/fault.hpp"
#include "launch/launch.hpp"
#include "stream/device_log.hpp"
#include "stream/nvtx.hpp"
#include "stream/timeline.hpp"

namespace ridge::simt {

namespace {

constexpr std::size_t kMaxPending = 1024;
constexpr std::size_t kMaxBacklog = 16384;

}  // namespace

Engine& Engine::instance() {
  static Engine* engine = new Engine;  // never destroyed: threads of the program may outlive main
  return *engine;
}

void finish_at_exit() {
  std::atexit([] { Engine::instance().finish(); });
}

Engine::Engine() {
  finish_at_exit();
  if (Timeline::instance().on()) count();
}

void Engine::count() {
  if (counting_) return;
  drain();  // earlier work is not counted, in whatever order it would have run
  counting_ = true;
  start_counting();
  finish_at_exit();
}

void Engine::end_stream(CUstream_st* stream) {
  // Later work of the legacy stream still waits for what this one has queued.
  if (stream->blocking && stream->tail != nullptr && !stream->tail->done) {
    CUstream_st& later = streams.legacy(stream->device);
    Work nothing;
    nothing.device = stream->device;
    OperationPtr join = make(later, std::move(nothing), {stream->tail});
    if (later.tail != nullptr) join->after.push_back(later.tail);
    later.tail = join;
    queue(join);
    time_.issue("", join, 0);
  }
  streams.end(stream);
}

OperationPtr Engine::make(CUstream_st& stream, Work work, std::vector<OperationPtr> after) {
  auto op = std::make_shared<Operation>();
  op->work = std::move(work);
  op->work.config.device = op->work.device;
  op->work.config.reachable = Peers::instance().reachable(op->work.device);
  op->number = numbers_++;
  op->stream = stream.id;
  op->after = std::move(after);
  return op;
}

void Engine::queue(const OperationPtr& op) {
  if (sticky_ != 0) {
    op->done = true;
    return;
  }
  pending_.add(op);
  activity_.asked();
  if (op->work.kind == WorkKind::exchange && exchange_queued_) exchange_queued_();
  if (op->work.kind != WorkKind::kernel || kernels_queued_) return;
  kernels_queued_ = true;
  finish_at_exit();  // before the destructors of what describes the program
}

OperationPtr Engine::submit(CUstream_st& stream, Work work, const char* call, double seconds,
                            std::vector<OperationPtr> after) {
  for (auto& before : streams.predecessors(stream)) after.push_back(std::move(before));
  work.device = stream.device;
  work.callers = Trace::callers();
  OperationPtr op = make(stream, std::move(work), std::move(after));
  stream.tail = op;
  queue(op);
  time_.issue(op->work.kind == WorkKind::kernel ? named_by_range(call) : call, op, seconds);
  if (pending_.size() > kMaxPending || time_.backlog() > kMaxBacklog) drain();
  return op;
}

OperationPtr Engine::submit_node(CUstream_st& stream, Work work, std::vector<OperationPtr> after) {
  OperationPtr op = make(stream, std::move(work), std::move(after));
  op->in_graph = true;
  queue(op);
  time_.issue("", op, 0);
  return op;
}

void Engine::clear() {
  sticky_ = 0;
  clear_fault();
}

void Engine::finish() {
  std::unique_lock lock(mutex, std::try_to_lock);
  // A program may call exit() inside a host function.
  if (!lock.owns_lock() || activity_.is_mine()) return;
  closing_ = true;
  drain();
  closing_ = false;
  if (finished_) return;
  finished_ = true;
  Timeline::instance().write();
}

void drain() {
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.drain();
}

void set_queue_order(std::uint64_t seed) { Engine::instance().set_order(seed); }

}  // namespace ridge::simt
