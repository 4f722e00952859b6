// The blocks of one cluster at a time, each on an OS thread of its own. They take turns, so that what one does to
// another's shared memory needs no locks, and has one order.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "block/block.hpp"

namespace ridge::simt {

class ClusterRun final : public ClusterTurns {
 public:
  ClusterRun(unsigned blocks, unsigned threads) : threads_(threads), members_(blocks), state_(blocks) {}

  // A member's OS thread has its runner.
  void join(unsigned rank, BlockRunner& runner);
  // The number of the next cluster of `total`, once all members have ended the last one and it is this one's turn;
  // `total` where there is none.
  std::uint64_t begin(unsigned rank, std::atomic<std::uint64_t>& next, std::uint64_t total,
                      const std::atomic<bool>& failed);
  void end(unsigned rank, bool ok);
  void leave();

  Next pass(bool polls, bool waits) override;
  unsigned rank() const override { return turn_; }
  unsigned count() const override { return static_cast<unsigned>(members_.size()); }
  BlockRunner* member(unsigned rank) override { return members_[rank]; }
  // Of members, one runs at a time.
  bool has_ended(unsigned rank) const override { return state_[rank] == State::ended; }
  BlockRunner* owner(std::uintptr_t address) override;
  unsigned arrive() override;
  bool over(unsigned phase) const override { return phase_ != phase; }

 private:
  enum class State : std::uint8_t { out, ahead, runs, ended };  // ahead: of its first turn
  void next_turn(unsigned from);
  void check_barrier();

  const unsigned threads_;  // of a block
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<BlockRunner*> members_;
  std::vector<State> state_;
  unsigned joined_ = 0, active_ = 0, asked_ = 0, turn_ = 0;
  unsigned idle_ = 0;  // turns in a row in which nothing came further
  std::uint64_t cluster_ = 0, generation_ = 0;
  bool failed_ = false;
  unsigned arrived_ = 0, phase_ = 0;  // of barrier.cluster
};

}  // namespace ridge::simt
