// One operation of a stream: its work, the operations that it waits for, and its virtual time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "count/footprint.hpp"
#include "device/fault.hpp"
#include "launch/launch.hpp"
#include "launch/time_model.hpp"

struct CUevent_st;

namespace ridge::simt {

// `height` rows of `width` bytes, `pitch` bytes apart, in `depth` slices of `slice` bytes.
struct Box {
  char* data = nullptr;
  std::size_t pitch = 0, slice = 0;
};

struct Extent {
  std::size_t width = 0, height = 1, depth = 1;
  std::size_t bytes() const { return width * height * depth; }
};

enum class WorkKind : std::uint8_t { nothing, kernel, copy, fill, host, release, record, wait, exchange };

// Work that depends on other ranks' work: it begins when all operations before it have run, and ends when theirs has
// come far enough. All calls are made with the engine's lock held, and none of them waits.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void begin() = 0;
  virtual bool advance() = 0;  // goes on as far as transfers have arrived; true at the end
  // Nothing has moved in this process for `seconds`. May end the program with a diagnosis.
  virtual void stalled(double seconds) = 0;
  // The timeline's data, after the end.
  virtual std::string name() const = 0;
  virtual const char* kind() const { return "exchange"; }  // in timelines
  // Whether it is a part of a file request (kFile): the request's number, and what serves the part.
  virtual bool is_file(std::uint64_t& /*number*/, int& /*resource*/) const { return false; }
  virtual double seconds() const = 0;
  virtual std::size_t bytes() const = 0;               // bytes sent, or received where it only receives
  virtual std::uintptr_t caller() const { return 0; }  // offset of the call in the program; 0: unknown
  // Virtual time, without the engine's lock. Tells the other ranks when this one starts; called once.
  virtual void announce(double start) = 0;
  // Gives the time of its end, once all others have told their starts; false before.
  virtual bool heard(double& end) = 0;
  // Waits a moment for the others' starts.
  virtual void listen() = 0;
  // The transfers of this rank, for the timeline.
  struct Part {
    int peer;
    bool sent;
    std::uint64_t bytes, channel, number;  // the same on both ends
    double latency, seconds_per_byte;      // of the link while it is idle
  };
  virtual std::vector<Part> parts() const = 0;
  // A record for traces: an ExchangeMaker of another process repeats the exchange from it.
  virtual std::vector<char> record() const = 0;
};

// Makes exchanges from records that nobody has checked yet. `check` throws where bytes do not lie in one allocation;
// `touched` gets the memory that the exchange reads and writes. Null where the record was only a note.
struct ExchangeRecord {
  const char* data;
  std::size_t bytes;
  std::function<void(const void* p, std::size_t bytes, bool write)> check;
  Footprint* touched;
};
using ExchangeMaker = std::shared_ptr<Exchange> (*)(const ExchangeRecord&);

// A piece of work. Graph nodes hold one, and every launch of the graph gets a copy.
struct Work {
  WorkKind kind = WorkKind::nothing;
  int device = 0;        // the stream's
  Callers callers = {};  // the call that issued or captured it, if a trace or the sanitizer asks

  LaunchConfig config{};  // kernel
  void (*run)(void*) = nullptr;
  std::shared_ptr<void> closure;
  std::size_t closure_bytes = 0;
  std::uintptr_t function = 0;  // address of the __global__ function; 0 where it is unknown

  Box to, from;  // copy; a fill has only `to`
  Extent extent;
  std::shared_ptr<char> staged;        // holds the source where it was copied at the call; `from` points there
  int to_device = 0, from_device = 0;  // the devices of memory that lies on one
  CopyPath path = CopyPath::on_device;
  bool pageable = false;
  unsigned value = 0;         // fill
  unsigned element_size = 1;  // 1, 2 or 4 bytes of the value

  std::function<void(int error)> call;  // host function; `error` is a cudaError_t
  bool call_after_error = false;        // true for callbacks, which hear of errors; false for host functions

  std::function<std::shared_ptr<Exchange>()> exchange;  // makes an exchange each time that the work runs

  void* pointer = nullptr;      // release
  CUevent_st* event = nullptr;  // record and wait in a graph: the event is looked up at the launch
};

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

// An operation that another one waited for: an arrow of the timeline.
struct Source {
  int stream;
  double start, end;
  std::uint64_t number;
};

struct Operation {
  Work work;
  std::uint64_t number = 0;  // rises in the order of issue
  int stream = 0;
  bool in_graph = false;
  std::vector<OperationPtr> after;
  bool done = false;
  std::shared_ptr<Exchange> exchange;  // null until it has begun

  // Virtual time in seconds. `seconds` is known when the operation has run, `start` and `end` when all that were issued
  // before it have run too.
  double seconds = 0;
  double share = 0;                  // part of the GPU
  double link_in = 0, link_out = 0;  // of the link to the host, each way: a kernel that follows pointers to host memory
  std::shared_ptr<Footprint> footprint;
  double issued = 0, start = 0, end = 0;
  bool timed = false;
  bool announced = false;  // an exchange that has a start and, until all ranks have told theirs, no end
  std::vector<Source> sources;
};

}  // namespace ridge::simt
