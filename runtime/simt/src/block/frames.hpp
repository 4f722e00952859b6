// Saved frames: the values that a thread's calls must find unchanged when they return. See frames.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "block/thread.hpp"

namespace ridge::simt {

constexpr std::size_t kFrameBytes = 64;  // return address, %rsp, %rbx, %rbp, %r12 to %r15

class Frames {
 public:
  Frames();
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  void give(Thread& t) {  // `t` has a stack
    t.frames = t.first_frame = words_ + static_cast<std::size_t>(t.slot) * kSlotWords;
    t.frames_end = t.first_frame + kDepth * (kFrameBytes / 8);
  }

 private:
  static constexpr std::size_t kDepth = 1000;  // calls within calls
  static constexpr std::size_t kSlotWords =
      kDepth * (kFrameBytes / 8) + 24;  // not a multiple of a page: sets of the cache
  std::uintptr_t* words_;
};

}  // namespace ridge::simt
