// Reads a `ridge.warp/1` file (docs/warp-format.md). Students can write such files, so every value is checked.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ridge::viz {

// Its message says what failed, in which file, and what to try.
struct WarpError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class WarpOp { global_load, global_store, global_red, global_atom, shared_load, shared_store, shared_atom };
inline bool is_global(WarpOp op) { return op <= WarpOp::global_atom; }
const char* words_of(WarpOp op);  // "global load"

struct WarpTotals {
  std::uint64_t requests = 0, lanes = 0, bytes = 0, sectors = 0, ideal_sectors = 0, wavefronts = 0, conflicts = 0;
  void add(const WarpTotals& o);
};

// Identifies a warp's operation: the kernel's launch, the block, the warp in the block, and the operation's number
// in the warp.
struct WarpWhen {
  std::uint64_t launch = 0, warp = 0, number = 0, path = 0;
  std::array<std::uint64_t, 3> block{};
};

struct WarpPlace {
  std::uint64_t pc = 0;
  std::string file;  // empty where it is unknown
  int line = 0;
};

struct WarpLine : WarpPlace {
  WarpOp op = WarpOp::global_load;
  WarpTotals totals;
};

struct WarpRequest {
  std::uint64_t pc = 0;
  WarpOp op = WarpOp::global_load;
  unsigned size = 4;   // bytes per lane: 1, 2, 4, 8 or 16
  bool worst = false;  // recorded as one of the most expensive, not as one of the first
  WarpWhen when;
  std::uint32_t lanes = 0;
  int memory = -1;  // index in WarpKernel::memory; -1 where it is unknown
  std::array<std::uint64_t, 32> address{};
  std::uint64_t sectors = 0, ideal_sectors = 0, wavefronts = 0, conflicts = 0;
};

struct WarpMemory {
  std::uint64_t begin = 0, bytes = 0;
  int argument = -1;
  std::string name;  // the kernel's parameter or the array; empty where it is unknown
  bool shared = false;
};

struct WarpBlock : WarpPlace {
  std::uint64_t runs = 0, lanes = 0, partial = 0;
  struct Sample {
    WarpWhen when;
    std::uint32_t lanes = 0;
  };
  std::vector<Sample> samples;
};

struct WarpKernel {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{}, block{};
  std::uint64_t launches = 0, dynamic_shared = 0, static_shared = 0;
  std::vector<WarpMemory> memory;  // allocations first, then arrays and variables
  std::vector<WarpLine> lines;
  std::vector<WarpRequest> requests;
  std::vector<WarpBlock> blocks;
};

struct WarpFile {
  std::filesystem::path file;
  std::string lab, task, attempt, device;
  std::vector<WarpKernel> kernels;  // at least one
  std::map<std::string, std::vector<std::string>> sources;
  std::vector<std::string> notes;  // what was left out, cut or refused
};

// Throw WarpError.
WarpFile parse_warp(const std::string& text, const std::filesystem::path& file);
WarpFile read_warp(const std::filesystem::path& file);

}  // namespace ridge::viz
