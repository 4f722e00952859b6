// The device work of a program as bytes that another process of the same program can repeat: allocations, copies with
// the host's data, launches with their arguments, in the order in which they ran. The judge lets a submission's host
// code yield such a trace and takes outputs and counts from a process that ran nothing of it but the kernels.
//
// Both processes need the same addresses: programs are started without address randomisation, and device memory lies at
// a fixed place. A trace is not to be trusted by who reads it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/fault.hpp"
#include "device/memory.hpp"
#include "stream/operation.hpp"

namespace ridge::simt {

namespace trace {

constexpr std::uint32_t kVersion = 5;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kMaxClosure = 64 * 1024;
constexpr std::size_t kMaxFrames = 12;
// Names of steps, of 31 characters at most: what the caller did in the call's stream before, and will do behind it; a
// cudaStreamWaitEvent of an event that was never recorded; an executable graph that is made, or gets new parameters.
constexpr char kWaitsForNothing[] = "waits for an unrecorded event";
constexpr char kGraphMade[] = "a graph is made", kGraphChanged[] = "a graph is changed";
constexpr char kCallBegins[] = "the call begins", kCallEnds[] = "the call ends";

enum class Kind : std::uint32_t {
  begin = 1,
  allocate,
  free,
  contents,
  kernel,
  copy,
  fill,
  mark,
  unsupported,
  step,
  exchange,
  stream
};

// Every record is its kind, its fields, and for some more bytes.
struct Begin {
  std::uint32_t version, reserved;
  std::uint64_t program_base, memory_base;
};
struct Allocate {  // then `frames` addresses of 8 bytes: the call stack
  std::uint64_t address, bytes;
  std::uint32_t kind, frames;
};
struct Free {
  std::uint64_t address;
};
struct Contents {  // memory that the host may write without a call (pinned, managed); then the data
  std::uint64_t address, bytes;
};
struct Kernel {  // then the name and the closure
  std::uint64_t number, run, function, dynamic_shared;
  std::uint32_t grid[3], block[3];
  std::uint32_t cooperative, in_graph, name, closure;  // cooperative: bit 0; above it 5 bits of each side of a cluster
};
struct Copy {  // then the rows, packed, where `from` is the host's
  std::uint64_t number, to, to_pitch, to_slice, from, from_pitch, from_slice, width, height, depth;
  std::uint32_t to_host, from_host, pageable, reserved;
};
struct Fill {
  std::uint64_t number, to, to_pitch, to_slice, width, height, depth;
  std::uint32_t value, element_size;
};
// A step of the host, in its order: it issued an operation (any but a kernel, copy or fill is `number` 0 or one that
// takes no time), or waited. Then the numbers of the `waits` operations that the operation, or the host, waits for.
struct Step {
  std::uint64_t number;  // + 1; 0: none
  double seconds;        // the host's time
  std::uint32_t is_wait, in_graph, stream, waits;
  Callers callers;  // offsets in the program, innermost first; then 0
  char name[32];
};
struct Exchange {  // then its record (operation.hpp) at its begin, or a note
  std::uint64_t number;
  std::uint32_t phase, bytes;  // 0: a note, 1: it begins, 2: it has ended
};
struct Stream {  // it was made or named; then its name
  std::uint32_t stream, made_at, nth, name;
};
struct Unsupported {  // then a text that names it
  std::uint32_t text, reserved;
};

}  // namespace trace

class Trace {
 public:
  static bool on() { return on_; }
  static void start();
  // The records since the start or the last call. `overflow` is set where they were more than kMaxBytes.
  static std::vector<char> take(bool& overflow);

  static void allocated(const Allocation& allocation);
  static void freed(std::uintptr_t address);
  static void before(const Operation& operation);  // a kernel, a copy or a fill that runs now
  static void after();
  // Called in the order of issue. `operation` may be null.
  static void step(const char* name, const Operation* operation, double seconds, bool is_wait,
                   const std::vector<OperationPtr>& waits, const Callers& callers, int stream);
  static void exchange_begins(const Operation& operation);
  static void exchange_ended(const Operation& operation);
  static void note(const std::vector<char>& record);  // the maker of exchanges reads it
  static void stream(int stream, const std::string& name, std::uint32_t made_at, std::size_t nth);
  static Callers callers();                   // this call's, if a trace or the sanitizer asks; else 0
  static void mark();                         // between calls of the judge
  static void unsupported(const char* what);  // the host wrote device memory in a way that no record tells

 private:
  static inline bool on_ = false;
};

// The kind of operations that stand for parts of file requests (runtime/worker/file_time.hpp).
constexpr std::string_view kFile = "file";

// The bytes that a replay moved. Copies, host writes to pinned and managed memory, and every launch's arguments and
// shape come from the host: these are all ways in which host code could hand an answer to the device.
struct Transfers {
  static constexpr std::uint64_t kLaunch = 32;
  std::uint64_t from_host = 0, to_host = 0, on_device = 0, filled = 0;
};

// When the device work of a trace would have run, had the host issued it as the trace says.
struct Schedule {
  struct Item {
    std::string name, kind;  // kernel, h2d, d2h, d2d, fill
    int stream = 0;
    double start = 0, end = 0, issued = 0;
    std::uint64_t bytes = 0;
    unsigned grid[3] = {}, block[3] = {};     // a kernel's
    std::uint64_t graph = 0;                  // number of the launch of a graph; 0: none
    std::vector<simt::Exchange::Part> parts;  // an exchange's
    std::vector<std::size_t> waits;           // indices of the items of other streams that it waited for
    bool pageable = false;                    // a copy whose side of the host is pageable memory
    // Of a copy from page-locked memory that the program has allocated: equal for copies that read the same bytes, from
    // 1 on. `unwaited`: an earlier one of them was issued for which the host has not waited.
    std::uint64_t source = 0;
    bool unwaited = false;
  };
  struct Call {  // a call of the host that took time
    std::string name;
    double start = 0, end = 0;
  };
  struct Stream {  // a name that the program gave, or the place of the call that made it
    std::string name;
    std::uint32_t made_at = 0;  // offset in the program; 0: unknown
    std::size_t nth = 0;        // of the streams alive that this call made, from 0
  };
  struct FilePart {  // an operation of kind kFile
    std::uint64_t number = 0;
    int resource = 0;
    double seconds = 0, start = 0, end = 0;
  };
  double seconds = 0;  // until the device and the host had ended
  std::vector<FilePart> file_parts;
  // Calls that put work on the device: graphs, and kernels, copies and fills outside of graphs.
  std::uint64_t launches = 0;
  int stream = -1;                                    // the one that the call was given; -1: unknown
  std::uint64_t graphs_made = 0, graphs_changed = 0;  // calls that instantiate a graph, or set parameters of one
  std::vector<Item> items;                            // at most kMaxItems, and as many calls
  std::vector<Call> calls;
  std::map<int, Stream> streams;  // by number
  std::uint64_t left_out = 0;     // number of items and calls beyond that
  static constexpr std::size_t kMaxItems = 4096;
};

// The first call in which the host waited for the device; no name: it did not wait.
struct HostWait {
  std::string call;
  std::uint32_t pc = 0;  // the place of the call
};

struct Replay {
  bool ok = true;  // false: the trace is wrong, and `error` says how. A kernel's fault is in last_fault().
  std::string error;
  Transfers transfers;
  Schedule schedule;   // since the last mark
  HostWait host_wait;  // since the last mark
  std::string race;    // two operations on the same memory that nothing orders; empty: none
};

// Sets the maker of exchanges for traces; without one, a trace with exchanges can't be repeated.
void set_exchange_maker(ExchangeMaker maker);
ExchangeMaker exchange_maker();  // null where there is none
// Runs a trace to its end or to the first fault. `before_last_call` is called at the last mark.
Replay replay_trace(const char* data, std::size_t bytes, void (*at_mark)(bool last));

}  // namespace ridge::simt
