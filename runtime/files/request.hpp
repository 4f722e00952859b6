// One call of a lab's code to its file system, as it travels to whoever owns the files: the judge, or this process.
// Nothing here has a function of its own, for a submission's objects may hold it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace files::wire {

enum class Op : std::uint32_t {
  open = 1,
  close,
  read,
  write,
  sync,
  truncate,  // to `offset` bytes
  rename,
  unlink,
  make_directory,
  list,      // the `offset`-th name of a directory, sorted; its text goes to the window
  status,    // a file's size and stripes
  describe,  // what the storage is made of; a Description goes to the window
  complete,  // of an asynchronous read or write, or of a core's work: waits for it, and its bytes change hands
  compute,   // work of a processor core on `bytes` bytes, such as decoding; `offset`: a lab's own number
  step,      // a rank begins a step of training
  advise,    // drops a file's pages from the page cache
  mark,      // a note of the lab's own code (entry.cu)
};

constexpr std::size_t kMostPath = 200;                     // bytes with the final 0
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one request; more give a short count
constexpr int kMostTargets = 32, kMostCores = 64, kMostPieces = 40;

enum Flag : std::uint32_t {
  kWrite = 1,      // also: of a read or write
  kCreate = 2,     // makes the file where there is none
  kTruncate = 4,   // empties it
  kExclusive = 8,  // refuses a file that exists
  kDirect = 16,    // past the page cache
  kAsync = 32,     // of a read or write alone: the call returns before the bytes have moved
};
constexpr std::uint32_t kAllFlags = 63;

struct Request {
  Op op{};
  std::uint32_t flags = 0;
  std::int32_t fd = -1;
  std::int32_t rank = 0;
  std::int64_t offset = 0;  // a lab's own number for step and mark
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  // of the caller's buffer: only its alignment counts
  std::uint64_t ticket = 0;   // of an asynchronous request, for complete
  std::int64_t stripe_size = 0;
  std::int32_t stripe_count = 0;
  std::int32_t core = 0;
  char path[kMostPath] = {}, other[kMostPath] = {};
};

// What serves a part of a request: a storage target by its number, or one of these.
constexpr std::int32_t kMetadata = 100, kPageCache = 101, kFirstCore = 200;
constexpr std::int32_t kLatency = 400;  // in timelines: what requests in flight share

// A part of a request: it occupies its resource for `seconds` of virtual time, after the resource's earlier work. All
// parts of stage 0 go side by side, and those of stage 1 follow.
struct Piece {
  std::int32_t resource = 0, stage = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

struct Reply {
  std::int64_t result = 0;         // as POSIX: bytes, a descriptor or 0; below 0 the negative errno
  std::uint32_t died = 0;          // 1: the rank died in this call, or before
  std::uint32_t asynchronous = 0;  // 1: the caller does not wait, and takes the completion of `ticket`
  std::uint32_t in_place = 0;      // 1: a real file system, whose requests use the caller's buffers
  std::uint32_t pieces = 0;
  double latency = 0;                      // seconds behind the last piece
  double host = 0;                         // seconds of the calling thread
  std::uint64_t ticket = 0, number = 0;    // number: of the request, from 1 on, for timelines
  std::int64_t size = 0, stripe_size = 0;  // status
  std::int32_t stripe_count = 0, first_target = 0;
  Piece piece[kMostPieces] = {};
};

// What a lab's code may know of the storage.
struct Description {
  std::int32_t targets = 0;         // storage targets, each with a bandwidth of its own
  std::int32_t cores = 0;           // for decoding
  double target_bandwidth = 0;      // bytes/s
  double request_seconds = 0;       // that each request occupies a target, besides its bytes
  double latency = 0;               // s, behind a request; requests in flight share it
  double open_seconds = 0;          // that each open, create, rename or unlink occupies the metadata server
  double page_cache_bandwidth = 0;  // bytes/s of the copy between the page cache and the caller's buffer
  std::uint64_t page_cache_bytes = 0;
  double core_bandwidth = 0;                     // bytes/s that one core decodes
  double call_seconds = 0;                       // host time of a call
  std::int64_t stripe_size = 0;                  // of files whose maker asks for none
  std::int32_t stripe_count = 0, alignment = 0;  // kDirect: address, offset and bytes are its multiples
};

// What a core does on a real machine: reads `bytes` bytes at `from` and writes as many at `to`.
using Work = void (*)(const void* from, void* to, std::size_t bytes, long long number);

static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Reply> &&
              std::is_trivially_copyable_v<Description>);

}  // namespace files::wire

namespace ridge::files {
using namespace ::files::wire;
}

// Defined by whoever hands calls on: the worker, or local.cpp.
extern "C" {
// Where the bytes of requests lie, kMostBytes of them; the same for all calls of a process.
char* ridge_files_window();
void ridge_files_call(const files::wire::Request* request, files::wire::Reply* reply);
// True where reads and writes use the caller's buffer (Request::address) and not the window: on a real file system.
bool ridge_files_in_place();
// There: `work` runs on core `core`, a thread, behind that core's earlier work. Returns a ticket, or 0 where no such
// core is.
unsigned long long ridge_files_work(int core, files::wire::Work work, const void* from, void* to, std::size_t bytes,
                                    long long number);
void ridge_files_wait(unsigned long long ticket);  // until that work has ended
// One call at a time: held while the window is in use.
void ridge_files_lock(bool on);
// A call's rank has died: does not return.
[[noreturn]] void ridge_files_died();

// For entry.cu alone (ranks.hpp).
bool ridge_files_lives(int rank, void (*body)(void*), void* argument);
long long ridge_files_mark(long long number, long long value);
}
