// Between the judge and its agents (one per rank, on any node): TCP, plain structs. A connection begins with Opening;
// then records follow, each a Record and its bytes. What the worker says stays the packets of worker/protocol.hpp,
// unread by the agent but for buffers, whose contents travel beside them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::wire {

constexpr std::uint32_t kMagic = 0x32414452;  // "RDA2"

enum class Line : std::uint32_t { control = 1, worker = 2, messages = 3 };

struct Opening {
  std::uint32_t magic = kMagic;
  Line line = Line::control;
  std::uint64_t token[2] = {};  // proves that the judge started this agent
  std::uint32_t rank = 0, size = 0;
  std::uint64_t worker = 0;  // as Start names it
  char host[64] = {};
};
static_assert(sizeof(Opening) == 104);

enum class Kind : std::uint32_t {
  program = 1,  // control, judge -> agent: the worker's program
  start,        // control, judge -> agent: Start
  packet,       // worker, both ways
  file,         // worker, both ways: the contents of the descriptor beside the next packet
  contents,     // worker, both ways: a buffer's id (8 bytes), then what it holds
  output,       // worker, agent -> judge: printed
  started,      // worker, agent -> judge: its pid (8 bytes)
  not_started,  // worker, agent -> judge: why
  ended,        // worker, agent -> judge: Ended
};

struct Record {
  Kind kind{};
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};

struct Start {
  std::uint64_t worker = 0;
  std::uint32_t role = 0;  // of worker_process.hpp
  std::uint32_t rank = 0, ranks = 0, reserved = 0;
};

struct Ended {
  std::int32_t status = 0;  // as waitpid gives it
  std::uint32_t memory = 0;
};

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;

// Blocking; false where the other end is gone.
bool send_all(int fd, const void* data, std::size_t bytes);
bool receive_all(int fd, void* data, std::size_t bytes);
bool send_record(int fd, Kind kind, const void* data, std::size_t bytes);
inline bool send_record(int fd, Kind kind, std::string_view text) {
  return send_record(fd, kind, text.data(), text.size());
}
bool receive_record(int fd, Record& head, std::vector<char>& bytes);

// A peer that lost its power says nothing: noticed after 6 s.
void keep_alive(int fd);
// Copies from one stream to the other until one ends; then both are shut down.
void pump(int from, int to);

// A file in memory with these contents; `size` where it is larger. -1 where there is no memory.
int memory_file(std::string_view contents, std::size_t size = 0);
// The whole of a regular file of at most `most` bytes; false where it is none.
bool file_contents(int fd, std::vector<char>& bytes, std::size_t most);

// A buffer that both sides have: its pages here, and what the other side has of them.
struct Mirror {
  std::uint64_t id = 0;
  char* at = nullptr;
  std::size_t bytes = 0;
  bool writable = false;
  std::size_t known = 0;  // hash of what the other side has
  std::string_view view() const { return {at, bytes}; }
};

// The buffers of the case at hand: those that were added after the last run.
class Mirrors {
 public:
  ~Mirrors() { clear(); }
  // Maps the descriptor's file. False where that can't be done.
  bool add(int fd, std::uint64_t id, bool writable, bool pages_writable);
  void ran() { ran_ = true; }
  // Sends what has changed here; only what a worker may write where `writable`.
  bool send_changed(int fd, bool writable);
  // Takes a record `contents`. Returns false if it names no buffer of ours, or one that may not change.
  bool receive(const std::vector<char>& record, bool writable);

 private:
  void clear();
  std::vector<Mirror> all_;
  bool ran_ = false;
};

}  // namespace ridge::wire
