// Communicators, and the ranks of this process. All is guarded by the engine's lock.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "message.hpp"
#include "nccl.h"
#include "stream/engine.hpp"

namespace ridge::collectives {

// The operator of ncclRedOpCreatePreMulSum: a sum of scaled elements.
struct ScaledSum {
  bool live = true;
  ncclDataType_t type = ncclFloat;
  const void* on_device = nullptr;     // read when the operation begins, or
  std::array<char, 8> immediate = {};  // taken at the call
};

class Task;
class GroupExchange;

}  // namespace ridge::collectives

struct ncclComm {
  std::uint64_t key = 0;  // equal in all ranks
  int rank = 0, size = 0, device = 0;
  std::string name;
  std::vector<std::uint64_t> processes;  // one for each rank
  bool live = true;
  ncclResult_t error = ncclSuccess;  // the result of ncclCommGetAsyncError

  std::map<ridge::collectives::Slot, ridge::collectives::Message> inbox;
  std::uint64_t collectives = 0, splits = 0;   // calls that have begun
  std::vector<std::uint64_t> sends, receives;  // calls that have begun, by peer
  ridge::simt::OperationPtr tail;              // calls on a communicator follow each other
  std::vector<ridge::collectives::ScaledSum> scaled_sums;
  std::vector<const ridge::collectives::Task*> inside;       // the tasks that it is in now
  const ridge::collectives::GroupExchange* group = nullptr;  // theirs
};

namespace ridge::collectives {

// The communicators of this process; destroyed ones stay in memory.
class Ranks {
 public:
  static Ranks& instance();
  ncclComm* make(std::uint64_t key, int rank, std::vector<std::uint64_t> processes, int device);
  ncclComm* find(std::uint64_t key, int rank) const;
  bool alive(const ncclComm* comm) const;
  // Puts a message into the inbox of a rank of this process, or keeps it for a rank that does not exist yet.
  void deliver(std::uint64_t key, int rank, Message message);
  // The ranks of one communicator, in order.
  std::vector<ncclComm*> of(std::uint64_t key) const;
  std::vector<ncclComm*> all() const;
  // Host threads that have made calls of NCCL.
  void note_thread() { threads_.insert(std::this_thread::get_id()); }
  std::size_t threads() const { return threads_.size(); }

 private:
  std::set<std::thread::id> threads_;
  std::vector<std::unique_ptr<ncclComm>> all_;
  std::map<std::pair<std::uint64_t, int>, ncclComm*> by_rank_;
  std::map<std::pair<std::uint64_t, int>, std::vector<Message>> early_;
};

// Sends to another rank of `comm`, in this process or another.
void send(ncclComm& comm, int to, Message message);
// Takes a message out of the inbox; false: it has not come yet.
bool take(ncclComm& comm, const Slot& slot, Message& message);

// The text for ncclGetLastError.
ncclResult_t fail(ncclResult_t result, std::string why);
const std::string& last_failure();
// The first refused collective, send or receive since this text was emptied, and the reason; empty where there is none.
std::string& refused_call();

}  // namespace ridge::collectives
