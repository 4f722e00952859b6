// Turns the memory accesses of 32 lanes into warp requests, and requests into the hardware's counters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>

#include "count/async_counters.hpp"

namespace ridge::simt {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;

enum class Op : std::uint8_t {
  global_load,
  global_store,
  global_red,   // an atomic whose old value nobody reads
  global_atom,  // an atomic whose old value is used
  shared_load,
  shared_store,
  shared_atom,
  constant_load,  // of __constant__ variables: counted apart
};
constexpr std::size_t kOps = 7;  // those before constant_load
const char* op_name(Op op);      // "global_ld", ...
constexpr bool is_global(Op op) { return op <= Op::global_atom; }

// Sums of one source location (or of a whole kernel) for one kind of access.
struct AccessCount {
  std::uint64_t requests = 0;       // warp-level instructions
  std::uint64_t lanes = 0;          // accesses of single lanes
  std::uint64_t bytes = 0;          // asked for by the lanes
  std::uint64_t sectors = 0;        // distinct 32-byte sectors of each global request, summed
  std::uint64_t ideal_sectors = 0;  // ceil(distinct bytes of the request / 32), summed
  std::uint64_t wavefronts = 0;     // shared memory: passes through the banks
  std::uint64_t conflicts = 0;      // shared memory: wavefronts beyond ceil(distinct words / 32)
  // Bytes from the address of a request's first lane to that of the lane behind it: the least and the most of all
  // requests in which both are active. The least is above the most where there was none.
  std::int64_t step_min = std::numeric_limits<std::int64_t>::max(), step_max = std::numeric_limits<std::int64_t>::min();

  void add(const AccessCount& other);
};

class WarpLog;

struct KernelCounters {
  AccessCount op[kOps];
  std::uint64_t barriers = 0;                     // block barriers released
  std::uint64_t warp_operations = 0;              // shuffles, votes, __syncwarp, ... once a warp
  std::uint64_t blocks = 0, warps = 0;            // that ran
  std::uint64_t warp_basic_blocks = 0;            // basic blocks executed, once a warp
  std::uint64_t lane_basic_blocks = 0;            // basic blocks executed, once a lane
  std::uint64_t warp_instructions = 0;            // instructions of the CPU build, once a warp
  std::uint64_t fp32 = 0, fp64 = 0, special = 0;  // operations of single lanes
  std::uint64_t load_waits = 0;                   // waits for loads that the code has, once a warp: see time_model.cpp
  std::uint64_t matrix = 0;                       // operations of the matrix units (all types)
  std::uint64_t lane_instructions = 0;            // instructions of the CPU build, once a lane
  std::uint64_t longest_thread = 0;               // instructions of the thread that executes most
  std::uint64_t memory_barriers = 0;              // phases of barriers in memory that ended
  std::uint64_t constant_requests = 0;            // loads of __constant__ variables, once a warp
  std::uint64_t constant_turns = 0;               // distinct addresses of each of them, summed
  // Local memory, estimated: accesses of 4 bytes to frames that registers do not hold, in 1/256 of an access. See
  // device/block_record.hpp; `lane_`: those that a lane makes through an address.
  std::uint64_t local_loads = 0, local_stores = 0, lane_local_loads = 0, lane_local_stores = 0;
  std::uint64_t l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;  // asked of each level: see cache.hpp
  std::uint64_t link_read = 0, link_written = 0;             // bytes of host memory that kernels follow pointers to
  AsyncCounters async;                                       // bulk copies and products of warpgroups
  std::uint64_t l1_lines = 0;                                // distinct 128-byte lines of each global request, summed
  std::unordered_map<std::uint64_t, std::uint64_t> atomics;  // turns of atomics at each 128-byte line
  std::unordered_map<std::uint64_t, AccessCount> line;       // key: pc * kOps + op
  std::shared_ptr<WarpLog> warp;                             // where RIDGE_WARP is on

  std::uint64_t busiest_atomic_line() const;
  void add(const KernelCounters& other);
};

// One warp-level request: the addresses of its active lanes.
struct Request {
  std::uint64_t where;  // see pack()
  std::uint64_t path;   // hash of the loop iterations and calls that lead to the access
  std::uint32_t lanes;  // mask
  bool used = false;    // an atomic's: some lane reads the old value
  std::uint64_t address[kWarpSize];

  // `part` tells apart the pieces of an access that was split, `bytes` (1, 2, 4, 8 or 16) is one lane's.
  static constexpr std::uint64_t pack(std::uint32_t pc, unsigned part, unsigned bytes, Op op) {
    return (std::uint64_t{pc} << 32) | (std::uint64_t{part & 0xFFFF} << 16) | (std::uint64_t{bytes} << 8) |
           static_cast<std::uint64_t>(op);
  }
  std::uint32_t pc() const { return static_cast<std::uint32_t>(where >> 32); }
  unsigned bytes() const { return (where >> 8) & 0xFF; }
  unsigned part() const { return (where >> 16) & 0xFFFF; }
  // Marks a member of a vector type, as the assembly tells it (rewrite/assembly/vector_members.hpp): x to w are 0 to 3.
  static constexpr unsigned kMember = 0x8000;
  bool is_member() const { return (part() & kMember) != 0; }
  unsigned member() const { return part() >> 13 & 3; }
  // In an object of the source's own aligned type (rewrite/assembly/aligned_types.hpp). The index is not told: each
  // lane's address tells it.
  static constexpr unsigned kAligned = 0x1000, kAligned16 = 0x800;
  bool is_aligned_member() const { return is_member() && (part() & kAligned) != 0; }
  unsigned alignment() const { return (part() & kAligned16) != 0 ? 16 : 8; }
  unsigned block_of_member() const { return part() & (is_aligned_member() ? 0x7FF : 0xFFF); }
  Op op() const {
    auto op = static_cast<Op>(where & 0xFF);
    return op == Op::global_red && used ? Op::global_atom : op;
  }
};

// Marks addresses of page-locked host memory, beyond those of device memory and of the program's variables.
constexpr std::uint64_t kHostMemory = std::uint64_t{1} << 45;

// The distinct sectors of a global request, ascending.
struct Sectors {
  unsigned count = 0;
  std::uint64_t index[2 * kWarpSize];   // address / 32
  std::uint8_t covered[2 * kWarpSize];  // of stores: bytes of the sector that are written
};

// Distinct sectors of a global request, and wavefronts and conflicts of a shared one (`address` relative to the start
// of shared memory). Rules and their measurement: runtime/simt/README.md, "Counters".
AccessCount count_request(const Request& request, Sectors& sectors);

// Makes one request of those that load, or store, members of one vector of a lane in one basic block, as nvcc makes one
// instruction: of 2 or 4 neighbours. Requests that went into another one have no lanes then.
void merge_members(Request* requests, std::size_t count);

// The constant cache serves one address at a time.
std::uint64_t distinct_addresses(const Request& request);

}  // namespace ridge::simt
