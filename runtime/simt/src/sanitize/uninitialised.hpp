// Reads of memory that nothing has written.
#pragma once
#include <cstdint>
#include <vector>

#include "sanitize/access.hpp"
#include "sanitize/running_block.hpp"

namespace ridge::simt {

class UninitialisedReads {
 public:
  explicit UninitialisedReads(const RunningBlock& block) : block_(block) {}
  void begin_block();
  // A load or an atomic, `written` bytes of which were written before.
  void check(const LaneAccess& a, unsigned written);
  // No piece of a struct copy follows.
  void end_run();
  // A race at this place was reported: it explains uninitialised reads there.
  void explained(std::uint32_t pc);
  void report();

 private:
  void suspect(const LaneAccess& a);
  void report(const LaneAccess& a) const;

  // Loads that follow each other without a gap, as the pieces of a struct copy do.
  struct Run {
    std::uintptr_t end = 0;
    std::uint32_t pc = 0;
    unsigned thread = 0;
    bool initialised = false;  // a piece was
    unsigned gap = 0;          // uninitialised bytes before `end`
    bool suspect = false;      // `first` is to be reported unless the next piece shows that it is padding
    LaneAccess first{};
  } run_;

  const RunningBlock& block_;
  // Uninitialised reads wait for the next barrier: where a race explains them, the race is the report.
  std::vector<LaneAccess> suspects_;
  std::vector<std::uint32_t> raced_;  // places of reported races
};

}  // namespace ridge::simt
