// The cost of one request of a warp from its lanes' addresses: sectors of global memory, wavefronts of shared memory.
// The rules are those of the emulator and of the hardware (runtime/simt/README.md, "Counters").
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
  std::uint32_t lanes = 0;   // the lanes that touch it
  std::uint32_t bytes = 0;   // mask of the touched bytes among its 32
};

struct GlobalPicture {
  std::vector<SectorUse> sectors;    // ascending
  std::vector<std::uint64_t> lines;  // distinct 128-byte lines, ascending
  std::uint64_t count = 0;           // sectors as counted; for atomics, rounds
  std::uint64_t ideal = 0;
  std::uint64_t used_bytes = 0;  // distinct bytes
};
GlobalPicture global_picture(const WarpRequest& r);

struct BankCell {
  unsigned bank = 0;
  std::uint64_t word = 0;   // address / 4
  std::uint32_t lanes = 0;  // lanes served together; more than one is a broadcast
};
// The words that one wavefront serves: at most one from each bank.
struct Wavefront {
  unsigned part = 0;
  std::vector<BankCell> cells;
};
struct SharedPicture {
  unsigned parts = 0;        // parts of the warp with an active lane
  unsigned part_lanes = 32;  // lanes in each part
  std::vector<Wavefront> wavefronts;
  std::uint64_t conflicts = 0;  // wavefronts - parts
  unsigned worst_bank = 0;      // the bank with the most words in one part
};
SharedPicture shared_picture(const WarpRequest& r);

// Whether the recorded counts agree with the addresses.
bool consistent(const WarpRequest& r);

// A sentence about the cost: "Neighbouring lanes are 4096 bytes apart: 32 sectors where 4 would do."
std::string explain(const WarpRequest& r);
// A sentence about the active lanes of a basic block.
std::string explain_lanes(std::uint32_t lanes, std::uint32_t all);

// "in[4128]", "tile[33]" or "out + 16 B"; empty where the memory is unknown.
std::string element_name(const WarpKernel& k, const WarpRequest& r, unsigned lane);
const WarpMemory* memory_of(const WarpKernel& k, const WarpRequest& r);

}  // namespace ridge::viz
