// Ranks under a judge: a worker that is one of several ranks calls these functions before anything else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "../lab/cause.hpp"

namespace ridge::collectives {
constexpr std::uint64_t kWorldKey = 1, kMpiKey = 2;  // keys of the communicators that all judged ranks have
}

// The first refused call of NCCL since the last question, and the reason; empty where there was none.
std::string ridge_refused_call();
// Communicators that the program has made and not destroyed, and requests of MPI for which nobody has waited.
std::size_t ridge_live_communicators();
std::size_t ridge_open_requests();
// Receives the reason for a rank's end in the middle of a call, in place of stderr. `follows`: another rank has
// reported it.
using RankEndListener = void (*)(ridge::Cause why, bool follows, const std::string& report);
void ridge_on_rank_end(RankEndListener listener);
// Reports the reason, and ends the process.
[[noreturn]] void ridge_end_rank(ridge::Cause why, bool follows, const std::string& report);
// `socket`: a stream to the judge's switchboard. Returns the ncclComm_t of all ranks.
void* ridge_join_ranks(int socket, int rank, int ranks);
// Sets the links between the ranks from now on (nccl/links.hpp).
bool ridge_set_links(const char* topology, int node, int ranks);
