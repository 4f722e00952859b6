#include "launch/cluster_run.hpp"

#include <algorithm>

namespace ridge::simt {

void ClusterRun::join(unsigned rank, BlockRunner& runner) {
  std::unique_lock lock(mutex_);
  members_[rank] = &runner;
  ++joined_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return joined_ == members_.size(); });
}

std::uint64_t ClusterRun::begin(unsigned rank, std::atomic<std::uint64_t>& next, std::uint64_t total,
                                const std::atomic<bool>& failed) {
  std::unique_lock lock(mutex_);
  const std::uint64_t own = generation_;
  if (++asked_ == members_.size()) {
    asked_ = 0;
    ++generation_;
    cluster_ = failed || failed_ ? total : std::min(next.fetch_add(1), total);
    active_ = static_cast<unsigned>(members_.size());
    turn_ = idle_ = arrived_ = phase_ = 0;
    std::fill(state_.begin(), state_.end(), State::ahead);
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return generation_ != own; });
  const std::uint64_t at = cluster_;
  if (at < total) {
    changed_.wait(lock, [&] { return turn_ == rank; });
    state_[rank] = State::runs;
  }
  return at;
}

void ClusterRun::end(unsigned rank, bool ok) {
  std::lock_guard lock(mutex_);
  state_[rank] = State::ended;
  --active_;
  idle_ = 0;
  failed_ = failed_ || !ok;
  check_barrier();
  next_turn(rank);
}

// No member frees its shared memory before all are done with theirs.
void ClusterRun::leave() {
  std::unique_lock lock(mutex_);
  --joined_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return joined_ == 0; });
}

void ClusterRun::next_turn(unsigned from) {
  const auto n = static_cast<unsigned>(members_.size());
  for (unsigned i = 1; i <= n; ++i) {
    const unsigned rank = (from + i) % n;
    if (state_[rank] == State::ended) continue;
    turn_ = rank;
    break;
  }
  changed_.notify_all();
}

ClusterTurns::Next ClusterRun::pass(bool, bool waits) {
  std::unique_lock lock(mutex_);
  if (failed_) return Next::failed;
  check_barrier();
  const unsigned own = turn_;
  idle_ = waits && !members_[own]->woken() ? idle_ + 1 : 0;
  if (idle_ > active_) return Next::all_wait;
  next_turn(own);
  changed_.wait(lock, [&] { return turn_ == own; });
  return failed_ ? Next::failed : Next::go;
}

BlockRunner* ClusterRun::owner(std::uintptr_t address) {
  for (BlockRunner* r : members_)
    if (r->is_shared(address)) return r;
  return nullptr;
}

unsigned ClusterRun::arrive() {
  const unsigned phase = phase_;
  ++arrived_;
  check_barrier();
  return phase;
}

// Threads that have ended need not come.
void ClusterRun::check_barrier() {
  unsigned live = 0;
  for (std::size_t i = 0; i < members_.size(); ++i)
    live += state_[i] == State::ahead ? threads_ : state_[i] == State::runs ? members_[i]->live_threads() : 0;
  if (arrived_ == 0 || arrived_ < live) return;
  arrived_ = 0;
  ++phase_;
  idle_ = 0;
  BlockRunner::note_progress();
  for (BlockRunner* r : members_) r->wake(ThreadState::at_cluster_barrier, [](const Wait&) { return true; });
}

}  // namespace ridge::simt
