// One operation of a stream: what it does, what it waits for, and when it ran in virtual time.
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

// Work that goes on together with other ranks': it begins when all before it has run, and ends when theirs has come far
// enough. All calls are made with the engine's lock held, and none of them waits.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void begin() = 0;
  virtual bool advance() = 0;  // as far as messages have arrived; true: it has ended
  // Nothing has moved in this process for so long. May end the program with a diagnosis.
  virtual void stalled(double seconds) = 0;
  // For the timeline, after its end.
  virtual std::string name() const = 0;
  virtual double seconds() const = 0;
  virtual std::size_t bytes() const = 0;               // sent; of what only receives: received
  virtual std::uintptr_t caller() const { return 0; }  // offset in the program; 0: unknown
  // Virtual time, without the engine's lock. Tells the other ranks when this one starts; called once.
  virtual void announce(double start) = 0;
  // When it ends, once the others have told when theirs start; false: not all have yet.
  virtual bool heard(double& end) = 0;
  // Waits a moment for what others tell.
  virtual void listen() = 0;
  // The messages of this rank, for the timeline.
  struct Part {
    int peer;
    bool sent;
    std::uint64_t bytes, channel, number;  // the same on both ends
  };
  virtual std::vector<Part> parts() const = 0;
  // For a trace: what an ExchangeMaker of another process needs to do the same.
  virtual std::vector<char> record() const = 0;
};

// Makes exchanges of records that nobody has checked yet. `check` throws where bytes do not lie in one allocation;
// `touched` gets what the exchange reads and writes. Null: the record was a note, there is nothing to do.
struct ExchangeRecord {
  const char* data;
  std::size_t bytes;
  std::function<void(const void* p, std::size_t bytes, bool write)> check;
  Footprint* touched;
};
using ExchangeMaker = std::shared_ptr<Exchange> (*)(const ExchangeRecord&);

// What is to be done. Graph nodes hold one, and every launch of the graph gets a copy.
struct Work {
  WorkKind kind = WorkKind::nothing;
  int device = 0;        // of its stream
  Callers callers = {};  // where it was issued, or captured, where a trace or the sanitizer asks

  LaunchConfig config{};  // kernel
  void (*run)(void*) = nullptr;
  std::shared_ptr<void> closure;
  std::size_t closure_bytes = 0;
  std::uintptr_t function = 0;  // address of the __global__ function; 0 where it is unknown

  Box to, from;  // copy; a fill has only `to`
  Extent extent;
  std::shared_ptr<char> staged;        // what `from` points to, where the source was taken at the call
  int to_device = 0, from_device = 0;  // where they lie, of what lies on a device
  CopyPath path = CopyPath::on_device;
  bool pageable = false;
  unsigned value = 0;         // fill
  unsigned element_size = 1;  // of the value: 1, 2 or 4 bytes

  std::function<void(int error)> call;  // host function; `error` is a cudaError_t
  bool call_after_error = false;        // callbacks hear of errors, host functions are left out

  std::function<std::shared_ptr<Exchange>()> exchange;  // makes one for every time that it runs

  void* pointer = nullptr;      // release
  CUevent_st* event = nullptr;  // record and wait in a graph: the event is looked up at the launch
};

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

// Who an operation waited for, for the arrows of the timeline.
struct Source {
  int stream;
  double start, end;
  std::uint64_t number;
};

struct Operation {
  Work work;
  std::uint64_t number = 0;  // in the order of issue
  int stream = 0;
  bool in_graph = false;
  std::vector<OperationPtr> after;
  bool done = false;
  std::shared_ptr<Exchange> exchange;  // once it has begun

  // Virtual time in seconds. `seconds` is known when it has run, `start` and `end` when all that was issued before it
  // has run too.
  double seconds = 0;
  double share = 0;                  // of the chip
  double link_in = 0, link_out = 0;  // of the link to the host, each way: a kernel that follows pointers to host memory
  std::shared_ptr<Footprint> footprint;
  double issued = 0, start = 0, end = 0;
  bool timed = false;
  bool announced = false;  // an exchange that has a start and, until all ranks have told theirs, no end
  std::vector<Source> sources;
};

}  // namespace ridge::simt
