// How much of a function's frame is in use at once: an estimate of what a GPU's compiler would need beyond a thread's
// registers.
#pragma once
#include <cstdint>
#include <vector>

namespace ridge::simt {

// An instruction's access to fixed bytes of the frame, from the stack pointer on.
struct FrameUse {
  std::int64_t offset = 0;
  unsigned bytes = 0;
  unsigned value = 0;  // bytes of them that a GPU would keep: none of an address, one float of a whole vector register
  bool load = false, store = false;
};

// Basic blocks: each one's uses in order, and the blocks that may follow it.
struct FrameFlow {
  std::vector<std::vector<FrameUse>> uses;
  std::vector<std::vector<int>> successors;
};

// Bytes of the frame that are live at the same time (A. Aho et al., "Compilers", 9.2.5: live variables), and those that
// no instruction names: arrays with computed indices.
std::int64_t live_frame_bytes(const FrameFlow& flow, std::int64_t frame_bytes);

}  // namespace ridge::simt
