// The emulated GPUs' queue. Streams only note what was asked for; it runs when the host waits, in an order that keeps
// CUDA's dependencies and is otherwise drawn from a seed, so that a missing one shows.
//
// engine.cpp queues operations, engine_run.cpp runs them, engine_wait.cpp lets the host wait.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stream/activity.hpp"
#include "stream/device_log.hpp"
#include "stream/operation.hpp"
#include "stream/pending.hpp"
#include "stream/streams.hpp"
#include "stream/virtual_time.hpp"

namespace ridge::simt {

class Engine {
 public:
  static Engine& instance();

  // Held during every call of the API. Host functions run without it.
  std::mutex mutex;
  bool used = false;  // a call of the runtime API has been made, which makes the primary context

  Streams streams;
  Handles<CUevent_st> events;
  void end_stream(CUstream_st* stream);  // its work stays queued

  // Queues `work` behind the stream's earlier work and `after`. The host made `call` for it and spent `seconds`.
  OperationPtr submit(CUstream_st& stream, Work work, const char* call, double seconds,
                      std::vector<OperationPtr> after = {});
  // Queues a node of a graph behind `after` only, and not behind the stream's tail.
  OperationPtr submit_node(CUstream_st& stream, Work work, std::vector<OperationPtr> after);

  // Runs what these operations need, and lets the host's virtual clock wait for them.
  void wait(const char* call, std::vector<OperationPtr> operations);
  void wait_stream(const char* call, CUstream_st& stream);
  void wait_device(const char* call, int device);  // waits for all work of its streams
  void wait_all(const char* call);
  // One step towards `operation`; true where it had ended before.
  bool progress(const char* call, const OperationPtr& operation);
  // A stream waits for an event that was never recorded. It takes no time; a race names it.
  void waits_for_nothing(int stream) { time_.issue(trace::kWaitsForNothing, nullptr, 0, stream); }
  // What a timeline tells of executable graphs; without time, too.
  void graph_made() { time_.issue(trace::kGraphMade, nullptr, 0); }
  void graph_changed() { time_.issue(trace::kGraphChanged, nullptr, 0); }
  // Runs all that is queued, without a wait of the host's virtual clock.
  void drain();
  // Runs all that was issued up to `operation`, which then has its times.
  void settle(const OperationPtr& operation);

  // Turns counting on: timing needs it.
  void count();
  int sticky_error() const { return sticky_; }  // cudaError_t of a fault, or 0
  void clear();                                 // cudaDeviceReset
  void set_order(std::uint64_t seed) { pending_.set_order(seed); }
  bool in_callback() const { return callback_thread_.load() == std::this_thread::get_id(); }
  // Runs the rest and writes the timeline, at the program's end.
  void finish();

  // Exchanges with other ranks. `told` is called, with the lock held, whenever one is queued.
  void on_exchange(std::function<void()> told) { exchange_queued_ = std::move(told); }
  // Something for exchanges has arrived: goes on with what waits for it. From any thread, with the lock held.
  void arrived();
  // An exchange that will never end counts as ended.
  void give_up(const OperationPtr& operation);
  // Waits with the lock held, but lets other threads have it, until something has moved or `seconds` are over.
  void wait_for_arrival(double seconds);
  const Activity& activity() const { return activity_; }

 private:
  Engine();
  OperationPtr make(CUstream_st& stream, Work work, std::vector<OperationPtr> after);
  void queue(const OperationPtr& operation);

  // engine_run.cpp
  // Runs operations until all `targets` have run; only their ancestors where `lazy`.
  void run_until(const std::vector<OperationPtr>& targets, bool lazy);
  void run(const OperationPtr& operation);
  void end(const OperationPtr& operation);  // it has run
  bool advance_exchanges();                 // true: one has moved
  void run_kernel(Operation& operation);
  void run_host(Operation& operation, int error);
  void abandon();  // after a fault

  void wait_streams(const char* call, const std::vector<CUstream_st*>& waited);

  PendingOperations pending_;
  std::vector<OperationPtr> begun_;  // exchanges that wait for other ranks
  std::function<void()> exchange_queued_;
  Activity activity_;
  VirtualTime time_;
  std::uint64_t numbers_ = 0;  // operations made so far
  int sticky_ = 0;
  bool kernels_queued_ = false;
  bool kernels_ran_ = false;
  bool counting_ = false;
  bool finished_ = false;
  bool closing_ = false;                            // nobody waits for other ranks any more
  std::atomic<std::thread::id> callback_thread_{};  // the thread that is inside a host function
};

// Runs what is queued: for code that looks at the device's memory or at launch records without the CUDA API.
void drain();
// The order in which queued operations run, see PendingOperations::set_order.
void set_queue_order(std::uint64_t seed);
// Runs Engine::finish() at the program's end, before the destructors of all statics that exist now.
void finish_at_exit();

}  // namespace ridge::simt
