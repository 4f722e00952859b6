#include "communicator.hpp"

#include "../reduction.hpp"
#include "node.hpp"

namespace ridge::collectives {

const char* name_of(What what) {
  constexpr const char* kNames[] = {"ncclSend",   "ncclRecv",      "ncclAllReduce",     "ncclBroadcast",
                                    "ncclReduce", "ncclAllGather", "ncclReduceScatter", "ncclAlltoAll",
                                    "ncclGather", "ncclScatter",   "ncclCommSplit",     "MPI_Send",
                                    "MPI_Recv"};
  return kNames[static_cast<std::size_t>(what)];
}

namespace {

bool reduces(What what) { return what == What::all_reduce || what == What::reduce || what == What::reduce_scatter; }
bool rooted(What what) {
  return what == What::broadcast || what == What::reduce || what == What::gather || what == What::scatter;
}

const char* operator_name(std::uint32_t op) {
  constexpr const char* kNames[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};
  return op < ncclNumOps ? kNames[op] : "a scaled sum";
}

// A count beyond 2^63 was a negative number.
std::string in_words(std::size_t count) {
  const auto number = static_cast<std::int64_t>(count);
  return number >= 0 ? std::to_string(count)
                     : std::to_string(count) + " (" + std::to_string(number) + " as an unsigned number)";
}

std::string& failure() {
  static auto* text = new std::string;
  return *text;
}

}  // namespace

bool same(const Call& a, const Call& b) {
  return a.what == b.what && a.type == b.type && a.count == b.count && (!reduces(a.what) || a.op == b.op) &&
         (!rooted(a.what) || a.root == b.root);
}

std::string text_of(const Call& c) {
  std::string text = name_of(c.what);
  if (c.what == What::split) return text;
  if (c.what > What::split)
    return text + " of " + std::to_string(c.count) + " bytes " + (c.what == What::mpi_send ? "to" : "from") + " rank " +
           std::to_string(c.root) + ", tag " + std::to_string(c.op);
  text += " of " + in_words(c.count) + " " + name_of(static_cast<ncclDataType_t>(c.type));
  if (reduces(c.what)) text += std::string(" (") + operator_name(c.op) + ")";
  if (c.what == What::send) text += " to rank " + std::to_string(c.root);
  if (c.what == What::receive) text += " from rank " + std::to_string(c.root);
  if (rooted(c.what)) text += ", root " + std::to_string(c.root);
  return text;
}

ncclResult_t fail(ncclResult_t result, std::string why) {
  failure() = std::move(why);
  return result;
}

const std::string& last_failure() { return failure(); }

std::string& refused_call() {
  static auto* text = new std::string;
  return *text;
}

Ranks& Ranks::instance() {
  static auto* ranks = new Ranks;
  return *ranks;
}

ncclComm* Ranks::make(std::uint64_t key, int rank, std::vector<std::uint64_t> processes, int device) {
  auto comm = std::make_unique<ncclComm>();
  comm->key = key;
  comm->rank = rank;
  comm->size = static_cast<int>(processes.size());
  comm->device = device;
  comm->sends.resize(processes.size());
  comm->receives.resize(processes.size());
  comm->processes = std::move(processes);
  ncclComm* made = comm.get();
  by_rank_[{key, rank}] = made;
  all_.push_back(std::move(comm));
  if (auto early = early_.extract({key, rank}); !early.empty())
    for (Message& m : early.mapped()) made->inbox.emplace(m.slot, std::move(m));
  return made;
}

ncclComm* Ranks::find(std::uint64_t key, int rank) const {
  auto found = by_rank_.find({key, rank});
  return found == by_rank_.end() ? nullptr : found->second;
}

bool Ranks::alive(const ncclComm* comm) const {
  for (const auto& c : all_)
    if (c.get() == comm) return c->live;
  return false;
}

void Ranks::deliver(std::uint64_t key, int rank, Message message) {
  if (ncclComm* comm = find(key, rank))
    comm->inbox.emplace(message.slot, std::move(message));
  else
    early_[{key, rank}].push_back(std::move(message));
}

std::vector<ncclComm*> Ranks::of(std::uint64_t key) const {
  std::vector<ncclComm*> found;
  for (auto at = by_rank_.lower_bound({key, 0}); at != by_rank_.end() && at->first.first == key; ++at)
    found.push_back(at->second);
  return found;
}

std::vector<ncclComm*> Ranks::all() const {
  std::vector<ncclComm*> found;
  for (const auto& [key, comm] : by_rank_) found.push_back(comm);
  return found;
}

void send(ncclComm& comm, int to, Message message) {
  message.slot.from = static_cast<std::uint32_t>(comm.rank);
  const std::uint64_t process = comm.processes[static_cast<std::size_t>(to)];
  if (process != Node::instance().token()) return Node::instance().write(process, comm.key, to, std::move(message));
  Ranks::instance().deliver(comm.key, to, std::move(message));
  simt::Engine::instance().arrived();
}

bool take(ncclComm& comm, const Slot& slot, Message& message) {
  auto found = comm.inbox.find(slot);
  if (found == comm.inbox.end()) return false;
  message = std::move(found->second);
  comm.inbox.erase(found);
  return true;
}

}  // namespace ridge::collectives
