// The streams and events of a program, and the order that streams impose on operations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stream/operation.hpp"

struct CUgraphNode_st;

namespace ridge::simt {
struct Capture;
}

struct CUstream_st {
  int id = 0;  // a device's legacy default stream has the device's number
  int device = 0;
  bool legacy = false;
  unsigned flags = 0;
  int priority = 0;
  std::uint32_t made_at = 0;                  // the program's call that made it, if a trace or a timeline asks; else 0
  std::size_t nth = 0;                        // of the streams alive that this call made, from 0
  bool blocking = true;                       // this stream and the legacy stream wait for each other
  ridge::simt::OperationPtr tail;             // the latest operation
  ridge::simt::Capture* capture = nullptr;    // set while work of the stream goes into a graph
  std::vector<CUgraphNode_st*> capture_tail;  // the nodes on which the next captured node depends
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  ridge::simt::OperationPtr record;         // the latest record
  ridge::simt::Capture* capture = nullptr;  // set where the latest record was captured
  std::vector<CUgraphNode_st*> capture_nodes;
};

namespace ridge::simt {

// Handles that are alive. The memory of a dead handle is kept, so that no new handle has its address.
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

class Streams {
 public:
  Streams();
  // The stream of a handle, or nullptr where there is no such stream. The handles 0, cudaStreamLegacy and
  // cudaStreamPerThread name streams of the calling thread's current device.
  CUstream_st* find(CUstream_st* handle);
  CUstream_st& legacy(int device) { return *legacy_[static_cast<std::size_t>(device)]; }
  const CUstream_st& legacy(int device) const { return *legacy_[static_cast<std::size_t>(device)]; }
  CUstream_st* make(unsigned flags, int priority, int device);
  void name(const CUstream_st& stream, const std::string& name);  // for timelines
  void end(CUstream_st* stream) { streams_.end(stream); }
  std::vector<CUstream_st*> all() const;
  // Number of streams that the program has made and not destroyed.
  std::size_t live() const { return streams_.live().size(); }
  // The operations that new work of this stream waits for.
  std::vector<OperationPtr> predecessors(const CUstream_st& stream) const;

 private:
  Handles<CUstream_st> streams_;
  std::vector<std::unique_ptr<CUstream_st>> legacy_;  // one for each device
  std::map<std::pair<std::thread::id, int>, CUstream_st*> per_thread_;
  int next_;  // number of the next stream
};

}  // namespace ridge::simt
