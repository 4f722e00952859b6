// The record of a launch under RIDGE_WARP: for each access some requests with the addresses of their lanes, and for
// each basic block the number of active lanes. The choice of requests depends neither on the number of OS threads nor
// on their timing.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "count/requests.hpp"

namespace ridge::simt {

// The warp that made a request or ran a basic block, and the time: `number` counts the warp's requests or runs.
struct WarpMoment {
  std::uint32_t launch = 0;  // number among the launches of the kernel in this shape, from 0
  std::uint32_t warp = 0;
  std::uint64_t block = 0;  // linear
  std::uint32_t number = 0;
  auto operator<=>(const WarpMoment& o) const {
    if (launch != o.launch) return launch <=> o.launch;
    if (block != o.block) return block <=> o.block;
    if (warp != o.warp) return warp <=> o.warp;
    return number <=> o.number;
  }
  bool operator==(const WarpMoment&) const = default;
};

class WarpLog {
 public:
  static constexpr std::size_t kFirst = 8, kWorst = 4;  // requests of an access, and of a block's partial runs

  struct Kept {
    WarpMoment when;
    std::uint64_t path = 0;
    Request request;
    AccessCount count;
    std::int32_t memory = -1;  // index of its allocation; -1: not known (yet)
    std::uint64_t cost() const { return count.sectors + count.wavefronts; }
  };
  struct Access {
    std::vector<Kept> first, worst;  // `first` by time; `worst` by cost, most first, then by time
  };
  struct Run {
    WarpMoment when;
    std::uint64_t path = 0;
    std::uint32_t lanes = 0;
  };
  struct BlockRuns {
    std::uint64_t runs = 0, lanes = 0, partial = 0;  // a run is partial where threads of the warp are missing
    std::vector<Run> first, fewest;                  // `first` by time; `fewest`: partial runs by lanes, then by time
  };

  // `next_` numbers what the warps of a block do.
  void begin_block(std::uint64_t block) {
    block_ = block;
    requests_.fill(0);
    runs_.fill(0);
  }
  void request(const Request& r, const AccessCount& c, unsigned warp);
  void run(std::uint64_t record, std::uint64_t path, std::uint32_t lanes, std::uint32_t all, unsigned warp);

  void merge(const WarpLog& other);
  void number_launch(std::uint32_t launch);  // assigns all that was kept to this launch

  std::unordered_map<std::uint64_t, Access> accesses;   // key: Request::where, with the operation that it is
  std::unordered_map<std::uint64_t, BlockRuns> blocks;  // key: address of the BlockRecord

 private:
  static constexpr std::size_t kMaxWarps = 32;  // in a block
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, kMaxWarps> requests_{}, runs_{};
};

// All launches of one kernel in one shape.
struct WarpKernel {
  std::string kernel;
  unsigned grid[3] = {}, block[3] = {};
  std::size_t dynamic_shared = 0, static_shared = 0;
  std::uint64_t launches = 0;
  std::unordered_map<std::uint64_t, AccessCount> line;  // as in KernelCounters
  WarpLog log;
  struct Memory {
    std::uint64_t begin = 0, bytes = 0;  // relative to the reserved range
    int argument = -1;                   // the pointer argument that leads here
  };
  std::vector<Memory> memory;
  int pointers = 0;  // pointers among the first launch's arguments
};

class WarpRecords {
 public:
  static bool on() { return on_; }
  static bool in_environment();  // RIDGE_WARP is set
  static void set(bool on) { on_ = on; }
  // A launch has ended: its log is taken out of `counters`.
  static void add(const char* kernel, const unsigned (&grid)[3], const unsigned (&block)[3], std::size_t dynamic_shared,
                  std::size_t static_shared, KernelCounters& counters, const void* closure, std::size_t closure_bytes);
  // `ridge.warp/1` (docs/warp-format.md) of the launches since the last call. `with_lines`: with files, lines and the
  // source; else a place is its offset in the program, "pc".
  static std::string take_json(bool with_lines);
  // Writes them to the file that RIDGE_WARP names.
  static void write();

 private:
  static inline bool on_ = false;
};

}  // namespace ridge::simt
