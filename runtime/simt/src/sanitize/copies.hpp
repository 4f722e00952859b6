// Copies to shared memory that go on while their threads do (cp.async): who reads what has not arrived?
#pragma once
#include <cstdint>
#include <vector>

#include "sanitize/access.hpp"
#include "sanitize/running_block.hpp"

namespace ridge::simt {

class CopiesUnderWay {
 public:
  explicit CopiesUnderWay(const RunningBlock& block) : block_(block) {}

  void begin_block() {
    words_.clear();
    under_way_ = 0;
    barriers_ = 0;
  }
  void barrier() { ++barriers_; }
  void begun(std::uintptr_t to, unsigned bytes, unsigned thread, std::uint32_t pc);
  void arrived(std::uintptr_t to, unsigned bytes, unsigned thread);
  // Reports a load or an atomic of bytes to which the thread's own copy is under way, or another thread's from before
  // the last barrier; without a barrier between them the two are a race. True where it did.
  bool check(const LaneAccess& a) const;

 private:
  struct Word {
    std::uintptr_t address = 0;  // 0: no copy to it is under way
    std::uint32_t pc = 0, barriers = 0;
    unsigned thread = 0;
  };
  // More than a block's shared memory has, so that no two of its words have one place.
  static constexpr std::size_t kWords = 1 << 16;
  Word& word(std::uintptr_t address) { return words_[address / 4 % kWords]; }
  const Word& word(std::uintptr_t address) const { return words_[address / 4 % kWords]; }
  void report(const LaneAccess& a, const Word& copy) const;

  const RunningBlock& block_;
  std::vector<Word> words_;  // empty where the block has begun no copy
  std::size_t under_way_ = 0;
  std::uint32_t barriers_ = 0;
};

}  // namespace ridge::simt
