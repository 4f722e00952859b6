// The queue of operations. Streams only note what was asked for; it runs when the host waits, in an order that keeps
// CUDA's dependencies and is otherwise drawn from a seed, so that a missing one shows.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stream/operation.hpp"
#include "stream/virtual_time.hpp"

struct CUgraphNode_st;

namespace ridge::simt {
struct Capture;
}

struct CUstream_st {
  int id = 0;  // those of the devices' legacy default streams are the devices' numbers
  int device = 0;
  bool legacy = false;
  unsigned flags = 0;
  int priority = 0;
  bool blocking = true;  // waits for the legacy stream, and it for this one
  ridge::simt::OperationPtr tail;
  ridge::simt::Capture* capture = nullptr;    // while its work goes into a graph
  std::vector<CUgraphNode_st*> capture_tail;  // what the next captured node depends on
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  ridge::simt::OperationPtr record;         // the latest one
  ridge::simt::Capture* capture = nullptr;  // recorded in a stream that was captured
  std::vector<CUgraphNode_st*> capture_nodes;
};

namespace ridge::simt {

// Handles that are alive. A dead handle's memory is kept, so that no new handle has its address.
template <class T>
class Handles {
 public:
  T* make() {
    all_.push_back(std::make_unique<T>());
    live_.insert(all_.back().get());
    return all_.back().get();
  }
  bool alive(const T* handle) const { return live_.count(const_cast<T*>(handle)) != 0; }
  void end(T* handle) {
    live_.erase(handle);
    *handle = T{};
  }
  const std::unordered_set<T*>& live() const { return live_; }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::unordered_set<T*> live_;
};

class Engine {
 public:
  static Engine& instance();

  // Held during every call of the API. Host functions run without it.
  std::mutex mutex;

  // The stream of a handle, or nullptr where there is no such stream. 0, legacy and per-thread are streams of the
  // calling thread's current device.
  CUstream_st* stream(CUstream_st* handle);
  CUstream_st& legacy(int device) { return *legacy_[static_cast<std::size_t>(device)]; }
  CUstream_st* make_stream(unsigned flags, int priority, int device);
  void end_stream(CUstream_st* stream);  // its work stays queued
  std::vector<CUstream_st*> streams();
  Handles<CUevent_st> events;
  std::size_t live_streams() const { return streams_.live().size(); }

  // Queues `work` behind the stream's earlier work and `after`. `call` and `seconds`: what the host did for it.
  OperationPtr submit(CUstream_st& stream, Work work, const char* call, double seconds,
                      std::vector<OperationPtr> after = {});
  // The same for a node of a graph: behind `after` only, and not the stream's tail.
  OperationPtr submit_node(CUstream_st& stream, Work work, std::vector<OperationPtr> after);
  // What new work of this stream must wait for.
  std::vector<OperationPtr> predecessors(CUstream_st& stream);

  // Runs what these operations need, and lets the host's virtual clock wait for them.
  void wait(const char* call, std::vector<OperationPtr> operations);
  void wait_stream(const char* call, CUstream_st& stream);
  void wait_device(const char* call, int device);  // for all work of its streams
  void wait_all(const char* call);
  // One step towards `operation`; true where it had ended before.
  bool progress(const char* call, const OperationPtr& operation);
  // Runs all that is queued, without a wait of the host's virtual clock.
  void drain();
  // Runs all that was issued up to `operation`, which then has its times.
  void settle(const OperationPtr& operation);

  // Turns counting on: timing needs it.
  void count();
  int sticky_error() const { return sticky_; }  // cudaError_t of a fault, or 0
  void clear();                                 // cudaDeviceReset
  void set_order(std::uint64_t seed) { order_ = seed; }
  bool in_callback() const { return callback_thread_.load() == std::this_thread::get_id(); }
  // At the program's end: runs the rest and writes the timeline.
  void finish();

  // Called, with the lock held, whenever an exchange is queued.
  void on_exchange(std::function<void()> told) { exchange_queued_ = std::move(told); }
  // Messages for exchanges have arrived: goes on with what waits for them. From any thread, with the lock held.
  void arrived();
  // An exchange that will never end counts as ended.
  void give_up(const OperationPtr& operation);
  // Waits with the lock held, but lets other threads have it, until something has moved or `seconds` are over.
  void wait_for_arrival(double seconds);
  // Rises with everything that runs or is asked for.
  std::uint64_t activity() const { return activity_; }
  int waiting_threads() const { return blocked_; }  // in here, for other ranks
  // All that has happened was looked at by a thread that then went to wait.
  bool waits_in_vain() const { return blocked_ > 0 && looked_ == activity_; }

 private:
  Engine();
  OperationPtr make(CUstream_st& stream, Work work, std::vector<OperationPtr> after);
  void queue(const OperationPtr& operation);
  // Runs operations until all `targets` have run; only their ancestors where `lazy`.
  void run_until(const std::vector<OperationPtr>& targets, bool lazy);
  OperationPtr pick(const std::unordered_set<const Operation*>* allowed, std::uint64_t draw) const;
  void run(const OperationPtr& operation);
  void end(const OperationPtr& operation);  // it has run
  bool advance_exchanges();                 // true: one has moved
  // Lets other threads run operations until something has moved.
  void wait_for_peers(std::unique_lock<std::mutex>& lock);
  void run_kernel(Operation& operation);
  void run_host(Operation& operation, int error);
  void wait_streams(const char* call, const std::vector<CUstream_st*>& streams);
  void abandon();  // after a fault

  Handles<CUstream_st> streams_;
  std::vector<std::unique_ptr<CUstream_st>> legacy_;  // of each device
  std::map<std::pair<std::thread::id, int>, CUstream_st*> per_thread_;
  std::vector<OperationPtr> pending_;  // in the order of issue
  std::function<void()> exchange_queued_;
  std::vector<OperationPtr> begun_;  // exchanges that wait for other ranks
  VirtualTime time_;
  std::uint64_t numbers_ = 0, draws_ = 0;
  std::uint64_t order_;
  int next_stream_;
  int sticky_ = 0;
  bool kernels_queued_ = false;
  bool kernels_ran_ = false;
  bool counting_ = false;
  bool finished_ = false;
  bool closing_ = false;  // nobody waits for other ranks any more
  std::uint64_t activity_ = 0;
  std::uint64_t looked_ = 0;                        // what that was when a thread last began to wait
  int blocked_ = 0;                                 // threads that wait for other ranks
  int runners_ = 0;                                 // of them, those that run operations as soon as something has moved
  std::atomic<std::thread::id> running_thread_{};   // runs operations now
  std::atomic<std::thread::id> callback_thread_{};  // is inside a host function
  std::condition_variable idle_;
};

// Runs what is queued: for code that looks at the device's memory or at launch records without the CUDA API.
void drain();
// The order in which queued operations run (RIDGE_LANE_ORDER): 0 as issued, else drawn from the seed.
void set_queue_order(std::uint64_t seed);

}  // namespace ridge::simt
