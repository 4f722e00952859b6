// From the memory accesses of 32 lanes to warp requests, and from requests to the hardware's counters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ridge::simt {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;

enum class Op : std::uint8_t { global_load, global_store, shared_load, shared_store };
constexpr std::size_t kOps = 4;
const char* op_name(Op op);  // "global_ld", ...

// One access of one lane, in program order.
struct Event {
  std::uint64_t address;
  std::uint32_t pc;    // offset of the access in the program's text
  std::uint8_t bytes;  // 1, 2, 4, 8 or 16
  Op op;
  std::uint16_t part;  // which piece of an access that was split by alignment
};

// Sums of one source location (or of a whole kernel) for one kind of access.
struct AccessCount {
  std::uint64_t requests = 0;       // warp-level instructions
  std::uint64_t lanes = 0;          // accesses of single lanes
  std::uint64_t bytes = 0;          // asked for by the lanes
  std::uint64_t sectors = 0;        // distinct 32-byte sectors of each global request, summed
  std::uint64_t ideal_sectors = 0;  // ceil(distinct bytes of the request / 32), summed
  std::uint64_t wavefronts = 0;     // shared memory: passes through the banks
  std::uint64_t conflicts = 0;      // shared memory: wavefronts beyond ceil(distinct words / 32)

  void add(const AccessCount& other);
};

struct KernelCounters {
  AccessCount op[kOps];
  std::uint64_t barriers = 0;                           // block barriers released
  std::uint64_t warp_operations = 0;                    // shuffles, votes, __syncwarp, ... once a warp
  std::uint64_t blocks = 0, warps = 0;                  // that ran
  std::uint64_t warp_basic_blocks = 0;                  // basic blocks executed, once a warp
  std::uint64_t lane_basic_blocks = 0;                  // basic blocks executed, once a lane
  std::uint64_t warp_instructions = 0;                  // instructions of the CPU build, once a warp
  std::uint64_t fp32 = 0, fp64 = 0, special = 0;        // operations of single lanes
  std::uint64_t matrix = 0;                             // operations of the matrix units (all types)
  std::uint64_t l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;  // asked of each level: see cache.hpp
  std::unordered_map<std::uint64_t, AccessCount> line;  // key: pc * kOps + op

  void add(const KernelCounters& other);
};

// One warp-level request: the addresses of its active lanes.
struct Request {
  std::uint64_t address[kWarpSize];
  std::uint8_t lane[kWarpSize];  // rising; whose address it is
  unsigned active;               // how many entries are used
  unsigned bytes;                // of one lane's access
  Op op;
};

// Distinct sectors of a global request, and wavefronts and conflicts of a shared one (`address` relative to the start
// of shared memory). Rules and their measurement: runtime/simt/README.md, "Counters".
AccessCount count_request(const Request& request);

// Groups the lanes' streams into requests, counts them into `counters` and clears the streams. Accesses of several
// lanes form one request when they come from the same instruction at the same repetition of it.
void merge_warp(std::vector<Event>* lanes, unsigned lane_count, KernelCounters& counters);

}  // namespace ridge::simt
