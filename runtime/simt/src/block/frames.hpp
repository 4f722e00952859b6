// Saved frames: the values that a thread's calls must find unchanged when they return. See frames.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::simt {

struct Thread;

constexpr std::size_t kFrameBytes = 64;  // return address, %rsp, %rbx, %rbp, %r12 to %r15

class Frames {
 public:
  Frames();
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  void give(Thread& t);  // `t` has a stack

 private:
  std::uintptr_t* words_;
};

}  // namespace ridge::simt
