// Races, reads of uninitialised memory and leaks: what RIDGE_SANITIZE=1 looks for beyond the bounds that are always
// checked. One Sanitizer belongs to one BlockRunner; what concerns the whole device is in static functions.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::simt {

enum class AccessKind : std::uint8_t { load, store, atomic };

struct LaneAccess {
  std::uintptr_t address;
  unsigned bytes;  // 1 to 16, not crossing an allocation's end
  AccessKind kind;
  bool is_volatile;
  std::uint32_t pc;     // offset in the program, for source_of()
  unsigned thread;      // linear index in the block
  bool shared;          // else global (device, managed or pinned memory)
};

class Sanitizer {
 public:
  static bool enabled();  // RIDGE_SANITIZE=1, or the judge asked

  // `launch` is a serial number that differs for every launch of the program; `block` is the linear block index.
  void begin_block(const char* kernel, std::uint64_t launch, std::uint64_t block, const unsigned block_index[3],
                   const unsigned block_dim[3]);
  void access(const LaneAccess& a);         // before the access happens
  void barrier();                           // all live threads of the block met
  void warp_sync(unsigned warp, unsigned mask);  // these lanes of the warp met
  void grid_sync();                         // all blocks met (cooperative launch)
  void fence(unsigned thread, int scope);   // scope as in ridge_simt::fence
  void end_block();

  // The host's side. New device memory is uninitialised; copies, memsets and mapped buffers initialise it.
  static void allocated(std::uintptr_t begin, std::size_t bytes, bool initialised);
  static void written(std::uintptr_t begin, std::size_t bytes);
  static void freed(std::uintptr_t begin);
  // At the program's end: reports leaks, and exits 86 where anything was reported.
  static void finish();
};

}  // namespace ridge::simt
