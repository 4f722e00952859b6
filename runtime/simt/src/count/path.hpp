// A lane's path: the calls that it is in, and the iterations of the loops around it. Accesses of several lanes are one
// warp request when they come from one instruction with equal paths.
#pragma once
#include <cstdint>

#include "device/block_record.hpp"

namespace ridge::simt {

class Path {
 public:
  void reset() {
    frame_count_ = 1;
    loop_count_ = 0;
    lost_ = 0;
    frames_[0] = {0, kSeed, nullptr, 0, 0};
  }

  // A basic block starts.
  void enter(const BlockRecord* b) {
    Frame& f = frames_[frame_count_ - 1];
    if (f.function != b->function) {
      if (f.function != 0 || lost_ != 0) return;  // a leaf function without accesses: no call was announced
      f.function = b->function;
    }
    f.block = b;
    const BlockRecord* top = loop_count_ > f.first_loop ? loops_[loop_count_ - 1].head : nullptr;
    if (top != b->loop)
      change_loops(b);
    else if (b->loop == b)
      again();
  }

  void call(std::uint64_t call_site) {
    if (frame_count_ == kMaxFrames) {
      ++lost_;
      return;
    }
    std::uint64_t base = mix(hash(), call_site);
    frames_[frame_count_++] = {0, base, nullptr, call_site, loop_count_};
  }
  void leave() {
    if (lost_ != 0) {
      --lost_;
    } else if (frame_count_ > 1 && frames_[frame_count_ - 2].function != 0) {
      // The kernel's own frame, which nothing known has called, stays: a finished lane is where it finished.
      loop_count_ = frames_[--frame_count_].first_loop;
    }
  }

  std::uint64_t hash() const {
    const Frame& f = frames_[frame_count_ - 1];
    return loop_count_ > f.first_loop ? loops_[loop_count_ - 1].hash : f.hash;
  }

  // The current function's basic block; null where none has begun.
  const BlockRecord* block() const { return frames_[frame_count_ - 1].block; }

  // True where this lane's position comes before `other`'s in program order: the lexicographic order of the weak
  // topological order with the iteration counts.
  bool before(const Path& other) const;

 private:
  static constexpr unsigned kMaxFrames = 10, kMaxLoops = 14;
  static constexpr std::uint64_t kSeed = 0x243F6A8885A308D3ull;

  struct Frame {
    std::uint64_t function;
    std::uint64_t hash;  // of everything outside this call
    const BlockRecord* block;
    std::uint64_t call_site;
    unsigned first_loop;
  };
  struct Loop {
    const BlockRecord* head;
    std::uint64_t hash, outer_hash;
    std::uint64_t iteration;
  };

  static std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
  }
  void again() {
    Loop& l = loops_[loop_count_ - 1];
    l.hash = mix(l.outer_hash, ++l.iteration);
  }
  void change_loops(const BlockRecord* b);

  unsigned frame_count_ = 1, loop_count_ = 0;
  unsigned lost_ = 0;  // calls too deep to follow
  Frame frames_[kMaxFrames];
  Loop loops_[kMaxLoops];
};

}  // namespace ridge::simt
