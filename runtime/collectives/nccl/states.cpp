#include "states.hpp"

#include <algorithm>
#include <set>

#include "../judged.hpp"
#include "diagnosis.hpp"
#include "exchange.hpp"

namespace ridge::collectives {

namespace {

bool is_collective(const Call& c) { return c.what > What::receive && c.what < What::split; }

// The communicator whose call this process is in, where it has one rank only; null: none but `comm`.
const ncclComm* elsewhere(const ncclComm& comm) {
  if (Ranks::instance().of(comm.key).size() != 1) return nullptr;
  for (const ncclComm* other : Ranks::instance().all())
    if (other != &comm && other->key != kMpiKey && !other->inside.empty()) return other;
  return nullptr;
}

// "ncclRecv of 60 ncclFloat32 from rank 1 (stage.cu:12) on another one<link> waits there for rank 1"
std::string call_elsewhere(const ncclComm& other, const char* link) {
  const Task& task = *other.inside.front();
  std::string text = text_of(task.call()) + place_of(task.call().pc) + " on another one";
  if (task.waits_for() >= 0) text += link + ("waits there for rank " + std::to_string(task.waits_for()));
  return text;
}

// Whether `op` comes after the exchange.
bool behind(const simt::Operation& op, const simt::Exchange* exchange) {
  std::set<const simt::Operation*> seen;
  std::vector<const simt::Operation*> next = {&op};
  while (!next.empty()) {
    const simt::Operation* at = next.back();
    next.pop_back();
    if (!seen.insert(at).second) continue;
    if (at->exchange.get() == exchange) return true;
    for (const auto& before : at->after) next.push_back(before.get());
  }
  return false;
}

// A rank that is in no call on the communicator, where others wait for its sends and receives.
std::string out_of_messages(const ncclComm& comm, bool called) {
  const ncclComm* other = elsewhere(comm);
  const auto made = [](const std::vector<std::uint64_t>& by_peer) {
    return std::any_of(by_peer.begin(), by_peer.end(), [](std::uint64_t n) { return n > 0; });
  };
  const bool none = !called && !made(comm.sends) && !made(comm.receives);
  if (other != nullptr && called && behind(*comm.tail, other->group))
    return " is in no call on this communicator: its next one stands behind " + call_elsewhere(*other, ", which ");
  if (called) return " is in no call of NCCL: earlier work of its stream does not end";
  std::string text = other != nullptr ? " is in no call on this communicator" : " is in no call of NCCL";
  text += none ? ", and has called no send or receive" + std::string(other != nullptr ? " on it" : "")
               : ": its sends and receives have ended";
  return text + (other != nullptr ? ", but is in " + call_elsewhere(*other, ", and ") : "");
}

// "; its group has also ncclSend of 4 ncclFloat32 to rank 2, which has ended"
std::string rest_of_group(const ncclComm& comm) {
  constexpr std::size_t kNamed = 2;
  if (comm.group == nullptr) return {};  // MPI
  const auto& tasks = comm.group->tasks();
  if (tasks.size() > 1 + kNamed && comm.inside.size() > 1)
    return "; " + std::to_string(comm.inside.size() - 1) + " more in its group";
  std::string text;
  for (const auto& t : tasks) {
    if (t.get() == comm.inside.front() || tasks.size() > 1 + kNamed) continue;
    const bool ended = std::find(comm.inside.begin(), comm.inside.end(), t.get()) == comm.inside.end();
    text += "; its group has also " + text_of(t->call()) +
            (ended ? ", which has ended" : ", which waits for rank " + std::to_string(t->waits_for()));
  }
  return text;
}

// The part of a rank's call that is still missing, as the others see it. `messages` is set if they wait for sends and
// receives.
std::string state_of(const ncclComm& comm, bool messages) {
  std::string text = "rank " + std::to_string(comm.rank);
  if (!comm.live) return text + " has ended its communicator";
  if (comm.inside.empty() && comm.key == kMpiKey) return text + " is in no call of MPI that waits";
  if (comm.inside.empty()) {
    const bool called = comm.tail != nullptr && !comm.tail->done;
    if (!refused_call().empty()) return text + " made a call that was refused, " + refused_call();
    if (messages) return text + out_of_messages(comm, called);
    text += " is in no call of NCCL: it has not come to collective #" + std::to_string(comm.collectives + 1);
    if (called) text += ", though it has called it: earlier work of its stream does not end";
    return text;
  }
  const Task& task = *comm.inside.front();
  const Call& c = task.call();
  text += " is in " + text_of(c);
  if (is_collective(c)) text += ", #" + std::to_string(comm.collectives);
  text += place_of(c.pc);
  if (task.waits_for() >= 0) text += " and waits for rank " + std::to_string(task.waits_for());
  return text + rest_of_group(comm);
}

}  // namespace

std::vector<Waiting> waiting_of(std::uint64_t key) {
  std::vector<Waiting> all;
  for (const ncclComm* comm : Ranks::instance().of(key)) {
    Waiting w;
    w.rank = comm->rank;
    if (comm->inside.empty()) {
      w.idle = comm->tail == nullptr || comm->tail->done;
      all.push_back(w);
    }
    for (const Task* t : comm->inside) {
      w.waits = true, w.in_group = t->in_group(), w.call = t->call();
      all.push_back(w);
    }
  }
  return all;
}

bool in_messages(std::uint64_t key) {
  bool messages = false, collectives = false;
  for (const ncclComm* comm : Ranks::instance().of(key))
    if (!comm->inside.empty()) (is_collective(comm->inside.front()->call()) ? collectives : messages) = true;
  return messages && !collectives;
}

std::string local_states(std::uint64_t key, bool messages) {
  std::string text;
  for (const ncclComm* comm : Ranks::instance().of(key)) text += "  " + state_of(*comm, messages) + "\n";
  return text;
}

}  // namespace ridge::collectives
