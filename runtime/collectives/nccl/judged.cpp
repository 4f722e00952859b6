// A rank that a judge has started: its messages pass through the judge.
#include "../judged.hpp"

#include <unistd.h>

#include <cstdio>

#include "communicator.hpp"
#include "node.hpp"
#include "recorded.hpp"
#include "stream/device_log.hpp"

namespace {
constexpr int kExitCode = 86;
RankEndListener heard_by = nullptr;
}  // namespace

void ridge_on_rank_end(RankEndListener listener) { heard_by = listener; }

void ridge_end_rank(ridge::Cause why, bool follows, const std::string& report) {
  std::fflush(stdout);
  if (heard_by != nullptr)
    heard_by(why, follows, report);
  else
    std::fputs(report.c_str(), stderr);
  std::fflush(stderr);
  _exit(kExitCode);
}

void* ridge_join_ranks(int socket, int rank, int ranks) {
  using namespace ridge::collectives;
  ridge::simt::set_exchange_maker(make_recorded);
  std::lock_guard lock(ridge::simt::Engine::instance().mutex);
  Node::instance().join(socket, static_cast<std::uint64_t>(rank) + 1);
  Node::instance().watch_calls();
  std::vector<std::uint64_t> processes;
  for (int r = 0; r < ranks; ++r) processes.push_back(static_cast<std::uint64_t>(r) + 1);
  Ranks::instance().make(kMpiKey, rank, processes, 0);
  return Ranks::instance().make(kWorldKey, rank, processes, 0);
}
