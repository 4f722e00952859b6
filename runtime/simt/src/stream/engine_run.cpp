// Runs queued operations, one thread at a time.
#include <algorithm>
#include <utility>

#include "device/fault.hpp"
#include "device/memory.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"
#include "stream/engine.hpp"
#include "stream/perform.hpp"

namespace ridge::simt {

void Engine::run_until(const std::vector<OperationPtr>& targets, bool lazy) {
  std::unique_lock lock(mutex, std::adopt_lock);
  if (!activity_.begin(lock)) {
    lock.release();
    return;
  }
  const std::uint64_t draw = pending_.draw();
  PendingOperations::Set ancestors;
  if (lazy) ancestors = with_ancestors(targets);
  auto all_done = [&] {
    return std::all_of(targets.begin(), targets.end(), [](const OperationPtr& t) { return t->done; });
  };
  while (!all_done()) {
    if (advance_exchanges()) continue;
    OperationPtr op = pending_.pick(lazy ? &ancestors : nullptr, draw);
    if (op == nullptr && lazy && !begun_.empty()) {  // other ranks of this process wait for these
      ancestors.merge(with_ancestors(pending_.exchanges()));
      op = pending_.pick(&ancestors, draw);
    }
    if (op != nullptr)
      run(op);
    else if (begun_.empty() || closing_)
      break;
    else
      activity_.wait_for_peers(lock, begun_);
  }
  activity_.end();
  time_.advance();
  lock.release();
}

bool Engine::advance_exchanges() {
  const std::uint64_t before = activity_.count();
  for (const OperationPtr& op : begun_)
    if (op->exchange->advance()) {
      end(OperationPtr(op));
      return true;
    }
  return activity_.count() != before;  // one has sent something to another
}

void Engine::arrived() {
  activity_.moved();
  activity_.wake();
  if (activity_.has_runner()) return;  // that thread sees to it
  // No thread waits: peers do, and what they wait for must not stay in the queue until one does.
  activity_.begin();
  const std::uint64_t draw = pending_.draw();
  for (;;) {
    if (advance_exchanges()) continue;
    const PendingOperations::Set ancestors = with_ancestors(pending_.exchanges());
    OperationPtr op = pending_.pick(&ancestors, draw);
    if (op == nullptr) break;
    run(op);
  }
  activity_.end();
  time_.advance();
}

void Engine::give_up(const OperationPtr& operation) {
  if (operation == nullptr || operation->done) return;
  if (operation->exchange == nullptr)
    operation->work.kind = WorkKind::nothing;  // not begun: it never will
  else
    end(operation);
  activity_.wake();
}

void Engine::run(const OperationPtr& op) {
  activity_.moved();
  Work& w = op->work;
  const bool traced =
      Trace::on() && (w.kind == WorkKind::kernel || w.kind == WorkKind::copy || w.kind == WorkKind::fill);
  if (traced) Trace::before(*op);
  switch (w.kind) {
    case WorkKind::kernel:
      run_kernel(*op);
      break;
    case WorkKind::copy:
      perform_copy(*op);
      break;
    case WorkKind::fill:
      perform_fill(*op);
      break;
    case WorkKind::host:
      run_host(*op, 0);
      break;
    case WorkKind::release:
      if (Sanitizer::enabled()) Sanitizer::freed(reinterpret_cast<std::uintptr_t>(w.pointer));
      Trace::freed(reinterpret_cast<std::uintptr_t>(w.pointer));
      DeviceMemory::instance().free(w.pointer);
      break;
    case WorkKind::exchange:
      op->exchange = w.exchange();
      Trace::exchange_begins(*op);
      op->exchange->begin();
      begun_.push_back(op);
      return;
    case WorkKind::nothing:
    case WorkKind::record:
    case WorkKind::wait:
      break;
  }
  if (traced) Trace::after();
  end(op);
}

void Engine::end(const OperationPtr& op) {
  Work& w = op->work;
  if (op->exchange != nullptr) {
    op->seconds = op->exchange->seconds();
    Trace::exchange_ended(*op);
    begun_.erase(std::remove(begun_.begin(), begun_.end(), op), begun_.end());
  }
  activity_.moved();
  op->done = true;
  w.closure.reset();
  w.staged.reset();
  w.call = nullptr;
  w.exchange = nullptr;
  pending_.remove(op);
  if (sticky_ != 0) abandon();
}

void Engine::run_kernel(Operation& op) {
  const bool ok = perform_kernel(op);
  if (!kernels_ran_) {
    kernels_ran_ = true;
    finish_at_exit();  // before the destructors of the statics that the first launch has made
  }
  if (ok) return;
  const Fault* fault = last_fault();
  sticky_ = fault != nullptr ? fault->error : 719;  // cudaErrorLaunchFailure
}

void Engine::run_host(Operation& op, int error) {
  auto call = op.work.call;
  callback_thread_ = std::this_thread::get_id();
  mutex.unlock();
  call(error);
  mutex.lock();
  callback_thread_ = std::thread::id();
}

void Engine::abandon() {
  begun_.clear();
  for (auto rest = pending_.take(); const auto& op : rest) {
    if (op->work.kind == WorkKind::host && op->work.call_after_error) run_host(*op, sticky_);
    op->done = true;
  }
}

}  // namespace ridge::simt
