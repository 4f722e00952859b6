// What one request of a warp costs, from its lanes' addresses: sectors of global memory, wavefronts of shared memory.
// The rules are the emulator's (runtime/simt/README.md, "Counters"), which are the hardware's.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "warp_file.hpp"

namespace ridge::viz {

constexpr std::uint64_t kSectorBytes = 32, kLineBytes = 128;
constexpr unsigned kLanes = 32, kBanks = 32;

struct SectorUse {
  std::uint64_t sector = 0;  // address / 32
  std::uint32_t lanes = 0;   // that touch it
  std::uint32_t bytes = 0;   // mask of those of its 32 bytes that are touched
};

struct GlobalPicture {
  std::vector<SectorUse> sectors;    // ascending
  std::vector<std::uint64_t> lines;  // distinct 128-byte lines, ascending
  std::uint64_t count = 0;           // sectors as counted: of atomics turns
  std::uint64_t ideal = 0;
  std::uint64_t used_bytes = 0;  // distinct bytes
};
GlobalPicture global_picture(const WarpRequest& r);

struct BankCell {
  unsigned bank = 0;
  std::uint64_t word = 0;   // address / 4
  std::uint32_t lanes = 0;  // served together: a broadcast where more than one
};
// What one pass through the banks serves: at most one word of each.
struct Wavefront {
  unsigned part = 0;
  std::vector<BankCell> cells;
};
struct SharedPicture {
  unsigned parts = 0;        // that have a lane
  unsigned part_lanes = 32;  // lanes of each
  std::vector<Wavefront> wavefronts;
  std::uint64_t conflicts = 0;  // wavefronts - parts
  unsigned worst_bank = 0;      // with most words of one part
};
SharedPicture shared_picture(const WarpRequest& r);

// Whether the counts of the file are those of its addresses.
bool consistent(const WarpRequest& r);

// Why it costs what it costs: "Neighbouring lanes are 4096 bytes apart: 32 sectors where 4 would do."
std::string explain(const WarpRequest& r);
// Of a line's basic block: how many lanes are active, and why that is.
std::string explain_lanes(std::uint32_t lanes, std::uint32_t all);

// "in[4128]", "tile[33]", "out + 16 bytes"; empty: the memory is not known.
std::string element_name(const WarpKernel& k, const WarpRequest& r, unsigned lane);
const WarpMemory* memory_of(const WarpKernel& k, const WarpRequest& r);

}  // namespace ridge::viz
