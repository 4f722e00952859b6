// Messages between the judge and a worker: one SOCK_SEQPACKET packet each, little-endian, plain structs. Descriptors
// travel beside a packet (SCM_RIGHTS). The worker is not trusted: the judge checks every length and takes no verdict,
// time or expected answer from it.
#pragma once
#include <cstdint>
#include <type_traits>

namespace ridge::protocol {

constexpr std::uint32_t kMagic = 0x31474452;  // "RDG1"
constexpr std::uint16_t kVersion = 14;
constexpr int kSocket = 3;    // the worker's end of the pair
constexpr int kMessages = 4;  // a rank's stream to the judge's switchboard, where there are several ranks
constexpr std::uint32_t kMaxCalls = 256;
constexpr std::uint32_t kMaxPacket = 64 * 1024;

enum class Type : std::uint16_t {
  hello = 1,   // worker -> judge, once: Hello
  buffer = 2,  // judge -> worker: Buffer and a descriptor; answered by done
  run = 3,     // judge -> worker: Run and its calls; answered by done
  done = 4,    // worker -> judge: Done; with a descriptor of launch records (JSON) where the run asked for them
  quit = 5,    // judge -> worker
  replay = 6,  // judge -> a worker started with "replay": Replay and the descriptor of a trace; answered as run is
  report = 7,  // worker -> judge, in place of done: Report; a rank ends in the middle of a call
  ask = 8,     // worker -> judge, in the middle of a run: Ask; answered by told, with the number of the run
  told = 9,    // judge -> worker: Told
  file = 10,   // worker -> judge, in the middle of a run: files::Request; answered by filed, with the number of the run
  filed = 11,  // judge -> worker: files::Reply; the first one with the descriptor of the window
};

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Type type{};
  std::uint64_t sequence = 0;  // an answer carries the number of its question
  std::uint32_t payload = 0;   // bytes that follow
  std::uint32_t reserved = 0;
};

struct Hello {
  std::uint32_t simt = 0;  // 1: the emulator
  std::uint32_t pid = 0;
  char device[128] = {};
};

struct Buffer {
  std::uint32_t id = 0;
  std::uint32_t writable = 0;
  std::uint64_t bytes = 0;     // the size that the task sees
  std::uint64_t reserved = 0;  // size of the allocation behind the descriptor
  // 0: device memory, 1: page-locked host memory, 2: pageable host memory, 3: as 1, kept from kernels
  std::uint32_t place = 0;
  std::uint32_t padding = 0;
};

struct Call {
  char task[32] = {};
  std::int64_t size[8] = {};
  std::uint32_t in[4] = {};  // buffer ids, 0 for none
  std::uint32_t out[4] = {};
  std::uint32_t workspace = 0;
  std::uint32_t node = 0;  // ranks in a group of the topology's first level; 0: as in its file
  char topology[32] = {};  // name in collectives/topologies, for virtual time; empty: links of the device profile
};

struct Run {
  std::uint32_t calls = 0;
  std::uint32_t record = 0;    // 1: send launch records (emulator); 2: with requests (docs/warp-format.md)
  std::uint32_t sanitize = 0;  // 1: races, uninitialised reads, leaks of the last call (emulator); the first is a fault
  std::uint32_t trace = 0;     // 1: send a trace of the device work since the last one, in place of launch records
};

// The device work of another worker of the same program.
struct Replay {
  std::uint64_t bytes = 0;                 // the trace's size
  std::uint32_t record = 0, sanitize = 0;  // as in a Run
  std::uint32_t node = 0, reserved = 0;    // as in a Call
  char topology[32] = {};
};

enum class Status : std::uint32_t { ok = 0, cuda_error = 1, fault = 2, bad_request = 3 };

// The check that fails, where the worker's runtime can tell.
enum class Gate : std::uint32_t { none = 0, correct = 1, memory = 2, launch = 3, mismatch = 4, deadlock = 5 };

struct Done {
  Status status = Status::ok;
  std::int32_t code = 0;    // cudaError_t
  Gate gate = Gate::none;   // faults only
  std::uint32_t cause = 0;  // a Cause; faults only
  char what[128] = {};      // error name, or the fault's kind
  char detail[1012] = {};   // a few sentences
  char kernel[96] = {};
  char file[96] = {};  // the fault's file, where it is known without debug information
  std::int32_t line = 0;
  std::uint32_t pc = 0;  // the fault's offset in the worker's program, for addr2line
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  std::uint32_t other_pc = 0;      // races only: the earlier access; 0 where there is none
  char other[84] = {};             // "store by block number 3, thread (0,0,0)"
  char host_wait[44] = {};         // replays only: the call in which the host waited for the device
  std::uint32_t host_wait_pc = 0;  // offset of that call in the worker's program
  std::uint64_t to_host = 0;       // replays only: bytes copied to the host; a hint for messages
  double device_seconds = 0;  // time between events around the calls, on the worker's stream: a detail, never a score
};

// The report of a rank that ends in the middle of a call of NCCL or MPI, so that other ranks can't go on.
struct Report {
  Gate gate = Gate::none;
  std::uint32_t follows = 0;  // 1: another rank has reported the cause
  std::uint32_t cause = 0;    // a Cause
  char text[4096] = {};       // lines for people; "[at 0x12f0]" is a place in the worker's program
};

// A question of host code (runtime/lab/ask.hpp). The judge counts them.
struct Ask {
  std::int64_t value[8] = {};
};

struct Told {
  std::uint32_t refused = 0;  // 1: more questions than a call may ask
  std::uint32_t reserved = 0;
  double value[4] = {};
};

static_assert(sizeof(Ask) == 64 && sizeof(Told) == 40);
static_assert(sizeof(Header) == 24 && sizeof(Buffer) == 32 && sizeof(Call) == 168 && sizeof(Done) == 1536 &&
              sizeof(Report) == 4108);
static_assert(std::is_trivially_copyable_v<Hello> && std::is_trivially_copyable_v<Done>);

}  // namespace ridge::protocol
