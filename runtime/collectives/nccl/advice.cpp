#include "advice.hpp"

#include <algorithm>

namespace ridge::collectives {

const char* const kAdviceMpi =
    "A large MPI_Send returns when its receive has begun: ranks that all send first wait for ever. MPI_Sendrecv does "
    "both at once.\n";
const char* const kAdviceNccl =
    "All ranks of a communicator must make the same calls in the same order; sends and receives that need each other "
    "belong between ncclGroupStart and ncclGroupEnd.\n";
const char* const kAdviceOneCommunicator =
    "The send and the receive are calls on two communicators, and never meet: both ranks must take the same one. The "
    "calls on one communicator run one by one, also in different streams.\n";

namespace {

const char kEach[] = "Each send needs a receive of its peer, and each receive a send, in the same order on both sides";

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

std::string in_words(const Waiting& w) {
  return rank_text(w.rank) + (w.call.what == What::send ? " sends to " : " receives from ") + rank_text(w.call.root);
}

bool fit(const Waiting& a, const Waiting& b) {
  return a.call.what != b.call.what && a.call.root == b.rank && b.call.root == a.rank;
}

}  // namespace

std::string message_advice(const std::vector<Waiting>& all) {
  std::vector<Waiting> calls;
  for (const Waiting& w : all)
    if (w.waits && (w.call.what == What::send || w.call.what == What::receive)) calls.push_back(w);
  for (const Waiting& w : calls)
    for (const Waiting& peer : all)
      if (peer.rank == w.call.root && !peer.waits && peer.idle)
        return "R" + rank_text(w.rank).substr(1) + " waits for an " +
               (w.call.what == What::send ? "ncclRecv" : "ncclSend") + " of " + rank_text(peer.rank) + ", and " +
               rank_text(peer.rank) +
               " has not called it: each send needs a receive of its peer, and each receive a send.\n";
  const auto grouped = [](const Waiting& w) { return w.in_group; };
  if (std::none_of(calls.begin(), calls.end(), grouped))
    return std::string(kEach) +
           "; those that need each other belong between ncclGroupStart and ncclGroupEnd, or in streams of their own.\n";
  const bool none_fits = std::none_of(calls.begin(), calls.end(), [&](const Waiting& a) {
    return std::any_of(calls.begin(), calls.end(), [&](const Waiting& b) { return fit(a, b); });
  });
  const auto as_the_first = [&](const Waiting& w) { return w.call.what == calls.front().call.what; };
  if (calls.size() > 1 && std::all_of(calls.begin(), calls.end(), as_the_first)) {
    const bool sends = calls.front().call.what == What::send;
    const bool empty = std::any_of(calls.begin(), calls.end(), [](const Waiting& w) { return w.call.count == 0; });
    return std::string("All calls that wait are ") + (sends ? "sends" : "receives") + ": each of them needs an " +
           (sends ? "ncclRecv" : "ncclSend") + " of its peer" + (empty ? ", also where it has 0 elements" : "") + ".\n";
  }
  if (none_fits && std::all_of(calls.begin(), calls.end(), grouped))
    for (const Waiting& w : calls)
      for (const Waiting& peer : calls)
        if (peer.rank == w.call.root)
          return "These calls are in groups already, and no two of them fit together: " + in_words(w) + ", but " +
                 in_words(peer) + ". Do all ranks have the same neighbours in mind?\n";
  return std::string(kEach) + ".\n";
}

}  // namespace ridge::collectives
