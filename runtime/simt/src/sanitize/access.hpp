// One access of one thread, as the block runner and the sanitizer see it.
#pragma once
#include <cstdint>

namespace ridge::simt {

enum class AccessKind : std::uint8_t { load, store, atomic };

struct LaneAccess {
  std::uintptr_t address;
  unsigned bytes;  // 1 to 16, not crossing an allocation's end
  AccessKind kind;
  bool is_volatile;
  std::uint32_t pc;  // offset in the program, for source_of()
  unsigned thread;   // linear index in the block
  bool shared;       // else global (device, managed or pinned memory)
};

}  // namespace ridge::simt
