// Ranks under a judge: what the worker calls before anything else, where it is one of several.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace ridge::collectives {
constexpr std::uint64_t kWorldKey = 1, kMpiKey = 2;  // of the communicators that all judged ranks have
}

// The first call of NCCL that was refused since this was asked, and why; empty: none.
std::string ridge_refused_call();
// Communicators that the program has made and not ended; requests of MPI that nobody has waited for.
std::size_t ridge_live_communicators();
std::size_t ridge_open_requests();
// Why a rank ends in the middle of a call.
enum class RankEnd { refused, mismatch, memory, deadlock };
// Who hears why a rank ends, in place of stderr. `follows`: another rank has reported the cause.
using RankEndListener = void (*)(RankEnd why, bool follows, const std::string& report);
void ridge_on_rank_end(RankEndListener listener);
// Says why this rank ends, and ends the process.
[[noreturn]] void ridge_end_rank(RankEnd why, bool follows, const std::string& report);
// `socket`: a stream to the judge's switchboard. Returns the ncclComm_t of all ranks.
void* ridge_join_ranks(int socket, int rank, int ranks);
// How the ranks are joined from now on (nccl/links.hpp).
bool ridge_set_links(const char* topology, int node, int ranks);
