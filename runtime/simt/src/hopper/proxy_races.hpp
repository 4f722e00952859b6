// The rules of the async proxy in shared memory, for the sanitizer: what threads store must be fenced
// (fence.proxy.async) before wgmma and TMA read it; a tile must not be overwritten, nor read, while a copy or a product
// of it goes on; a warp's registers of d are its product's until it has waited. PTX ISA, "Async proxy".
//
// Order is happens-before between warps: __syncthreads(), named barriers, mbarriers, barrier.cluster. Lanes of a warp
// are not told apart, and a warp that has only lately come to a barrier's next phase counts as come before: lenient.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "block/block.hpp"
#include "hopper/product.hpp"

namespace ridge::simt {

class ProxyRaces {
 public:
  explicit ProxyRaces(BlockRunner& runner) : runner_(runner) { begin_block(); }
  void begin_block();

  // Synchronisation by the running thread: it comes to `what` (an mbarrier, a named barrier), and has seen it open.
  void come(std::uintptr_t what);
  void pass(std::uintptr_t what);
  void block_barrier();
  void proxy_fence();

  // Threads' own accesses.
  void access(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc);

  // Bulk copies, piece by piece of 16 bytes, where their instruction is executed, and when they have come.
  void load_begins(std::uintptr_t piece, std::uint32_t pc, Swizzle swizzle, bool own_block);
  void load_ends(std::uintptr_t piece);
  void copy_comes(std::uintptr_t barrier);
  void store_begins(std::uintptr_t piece, std::uint32_t pc);
  void store_ends(std::uintptr_t piece);

  // Products of a warp.
  void product_begins(const WarpProduct& p);
  void product_ends(const WarpProduct& p, unsigned warp);
  void registers_touched(const WarpProduct& p, std::uint32_t pc, bool store);
  void sum_stored(const WarpProduct& p, std::uint32_t pc, unsigned by);
  void registers_touched(const WarpProduct& p);  // found when it ends
  void fence_missing(const WarpProduct& p);

 private:
  static constexpr unsigned kWarps = 32;
  static constexpr unsigned kCopies = kWarps;  // bulk copies that have come, as one more that is known
  using Times = std::array<std::uint32_t, kWarps + 1>;
  struct Cell {
    std::uint32_t store_pc = 0, store_time = 0, read_pc = 0, copy_pc = 0, come = 0;
    std::uint16_t store_thread = 0;
    std::uint8_t store_warp = 0xFF, loads = 0, stores = 0, products = 0;
    Swizzle swizzle = Swizzle::none;
    bool by_tensor = false;                                    // TMA wrote it last
    bool overwritten = false;                                  // it did so too early, and that was told
    std::uint32_t async_read[kWarps] = {}, read[kWarps] = {};  // times, + 1
  };
  Cell& cell(std::uintptr_t address);
  const Thread& thread() const { return runner_.running_thread(); }
  unsigned warp() const { return thread().linear / 32; }
  void read_by_unit(Cell& c, std::uint32_t pc, const char* who);
  void report(const char* kind, const char* detail, std::uint32_t pc, const char* what, std::uint32_t other_pc,
              const char* other_what, unsigned other_thread);

  BlockRunner& runner_;
  std::vector<Cell> cells_;
  std::array<Times, kWarps> known_;
  std::map<std::uintptr_t, Times> barriers_;
  Times fenced_;
  std::uint32_t copies_come_ = 0;
};

}  // namespace ridge::simt
