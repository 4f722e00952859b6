// Communicators: made, split, ended; what they know; operators; memory.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "../reduction.hpp"
#include "api.hpp"
#include "group.hpp"
#include "node.hpp"
#include "recorded.hpp"
#include "stream/device_log.hpp"

using namespace ridge::collectives;
using ridge::simt::Engine;

namespace {

constexpr double kConnectSeconds = 30;
constexpr std::chrono::seconds kPatience{5};  // until it is said who does not come

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a ^ (b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  return x ^ (x >> 27);
}

ncclResult_t join(ncclComm_t* made, int ranks, const ncclUniqueId& id, int rank) {
  if (made == nullptr) return fail(ncclInvalidArgument, "ncclCommInitRank: comm is null");
  *made = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return fail(ncclInvalidArgument, "ncclCommInitRank: rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  const int device = ridge::simt::current_device();
  // In a group the ranks of one thread all go to the meeting, each with a thread of its own, before the first is waited
  // for.
  struct Meeting {
    std::thread thread;
    std::vector<Member> members;
    std::uint64_t key = 0;
    std::string why;
  };
  auto meeting = std::make_shared<Meeting>();
  Join j;
  j.begin = [=] {
    meeting->thread =
        std::thread([=] { meeting->members = meet(id.internal, rank, ranks, meeting->key, meeting->why); });
    return ncclSuccess;
  };
  j.end = [=]() -> ncclResult_t {
    meeting->thread.join();
    if (meeting->members.empty()) {
      std::lock_guard lock(Engine::instance().mutex);
      return fail(ncclSystemError, "ncclCommInitRank: " + meeting->why);
    }
    std::vector<std::uint64_t> processes;
    for (const Member& m : meeting->members) {
      if (!Node::instance().connect(m.process, m.address, meeting->key, kConnectSeconds)) {
        std::lock_guard lock(Engine::instance().mutex);
        return fail(ncclSystemError, "ncclCommInitRank: cannot connect to " + m.address);
      }
      processes.push_back(m.process);
    }
    return api::locked([&] {
      Node::instance().watch_calls();
      *made = Ranks::instance().make(meeting->key, rank, processes, device);
      return ncclSuccess;
    });
  };
  return add_join(std::move(j));
}

// Every rank tells every other its color and key.
struct Choice {
  std::int32_t color, key, rank;
};

ncclResult_t split(ncclComm* comm, int color, int key, ncclComm_t* made) {
  auto number = std::make_shared<std::uint64_t>();
  auto tell = [=]() -> ncclResult_t {
    return api::locked([&] {
      if (!Ranks::instance().alive(comm)) return fail(ncclInvalidArgument, "ncclCommSplit: no such communicator");
      *number = comm->splits++;
      const Choice own{color, key, comm->rank};
      std::vector<char> data(sizeof own);
      std::memcpy(data.data(), &own, sizeof own);
      Call call;
      call.what = What::split;
      for (int r = 0; r < comm->size; ++r) send(*comm, r, {{0, Kind::split, *number, 0}, call, data});
      return ncclSuccess;
    });
  };
  auto hear = [=]() -> ncclResult_t {
    return api::locked([&] {
      std::vector<Choice> chosen;
      for (int r = 0; r < comm->size; ++r) {
        Message m;
        const auto begin = std::chrono::steady_clock::now();
        bool told = false;
        while (!take(*comm, {static_cast<std::uint32_t>(r), Kind::split, *number, 0}, m)) {
          Engine::instance().wait_for_arrival(1);
          if (told || std::chrono::steady_clock::now() - begin < kPatience) continue;
          told = true;
          std::fprintf(stderr, "ridge: NCCL: rank %d waits for rank %d to call ncclCommSplit\n", comm->rank, r);
        }
        Choice c;
        std::memcpy(&c, m.data.data(), sizeof c);
        if (c.color == color) chosen.push_back(c);
      }
      *made = nullptr;
      if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
      std::stable_sort(chosen.begin(), chosen.end(), [](const Choice& a, const Choice& b) { return a.key < b.key; });
      std::vector<std::uint64_t> processes;
      int rank = 0;
      for (const Choice& c : chosen) {
        if (c.rank == comm->rank) rank = static_cast<int>(processes.size());
        processes.push_back(comm->processes[static_cast<std::size_t>(c.rank)]);
      }
      const std::uint64_t own = mixed(mixed(comm->key, *number), static_cast<std::uint64_t>(color));
      *made = Ranks::instance().make(own, rank, std::move(processes), comm->device);
      if (ridge::simt::Trace::on()) ridge::simt::Trace::note(record_of(**made));
      return ncclSuccess;
    });
  };
  return add_join({tell, hear});
}

template <class Body>
ncclResult_t with(const ncclComm* comm, const char* name, Body body) {
  return api::locked([&] {
    if (!Ranks::instance().alive(comm))
      return fail(ncclInvalidArgument, std::string(name) + ": there is no such communicator");
    return body();
  });
}

ncclResult_t finish(ncclComm_t comm, const char* name, bool end) {
  return with(comm, name, [&] {
    Engine::instance().wait(name, {comm->tail});
    comm->live = !end;
    return ncclSuccess;
  });
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* kTexts[] = {"no error",
                                    "a CUDA call failed (ncclGetLastError tells more)",
                                    "a system call failed (ncclGetLastError tells more)",
                                    "internal error",
                                    "invalid argument (ncclGetLastError tells more)",
                                    "invalid usage (ncclGetLastError tells more)",
                                    "another rank has failed",
                                    "in progress"};
  return result >= 0 && result < ncclNumResults ? kTexts[result] : "unknown result code";
}
void ncclResetDebugInit() {}
const char* ncclGetLastError(ncclComm_t) { return last_failure().c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return fail(ncclInvalidArgument, "ncclGetUniqueId: id is null");
  if (Node::instance().judged())
    return fail(ncclInvalidUsage, "ncclGetUniqueId: ranks are together already; use the communicator that you get");
  if (!open_meeting(id->internal))
    return fail(ncclSystemError, std::string("ncclGetUniqueId: ") + std::strerror(errno));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return join(comm, ranks, id, rank);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t*) {
  return join(comm, ranks, id, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* list) {
  return api::locked([&] {
    if (comms == nullptr || count < 1) return fail(ncclInvalidArgument, "ncclCommInitAll: no communicators to make");
    std::vector<int> devices;
    for (int i = 0; i < count; ++i) {
      const int d = list == nullptr ? i : list[i];
      if (!ridge::simt::is_device(d))
        return fail(ncclInvalidArgument, "ncclCommInitAll: there is no device " + std::to_string(d) + " (of " +
                                             std::to_string(ridge::simt::device_count()) +
                                             ": RIDGE_DEVICES sets how many are emulated)");
      if (std::find(devices.begin(), devices.end(), d) != devices.end())
        return fail(ncclInvalidUsage, "ncclCommInitAll: device " + std::to_string(d) + " twice");
      devices.push_back(d);
    }
    static std::uint64_t made = 0;
    const std::uint64_t key = mixed(Node::instance().token(), ++made);
    const std::vector<std::uint64_t> processes(devices.size(), Node::instance().token());
    for (int i = 0; i < count; ++i)
      comms[i] = Ranks::instance().make(key, i, processes, devices[static_cast<std::size_t>(i)]);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t*) {
  if (made == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR))
    return fail(ncclInvalidArgument, "ncclCommSplit: newcomm is null, or color " + std::to_string(color));
  return split(comm, color, key, made);
}

// The ranks that stay know the ranks that go: no message is needed.
ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* made, ncclConfig_t*, int) {
  return with(comm, "ncclCommShrink", [&] {
    if (made == nullptr || excluded == nullptr || count < 1)
      return fail(ncclInvalidArgument, "ncclCommShrink: newcomm is null, or no rank is excluded");
    const std::vector<int> gone(excluded, excluded + count);
    std::uint64_t key = mixed(comm->key, comm->splits++);
    std::vector<std::uint64_t> processes;
    int rank = 0;
    for (int r = 0; r < comm->size; ++r) {
      if (std::find(gone.begin(), gone.end(), r) != gone.end()) {
        if (r == comm->rank) return fail(ncclInvalidArgument, "ncclCommShrink: the calling rank is excluded");
        key = mixed(key, static_cast<std::uint64_t>(r));
        continue;
      }
      if (r == comm->rank) rank = static_cast<int>(processes.size());
      processes.push_back(comm->processes[static_cast<std::size_t>(r)]);
    }
    *made = Ranks::instance().make(key, rank, std::move(processes), comm->device);
    return ncclSuccess;
  });
}
// The ids spread NCCL's meeting over several hosts; one is enough here.
ncclResult_t ncclCommInitRankScalable(ncclComm_t* made, int ranks, int rank, int ids, ncclUniqueId* id, ncclConfig_t*) {
  if (id == nullptr || ids < 1) return fail(ncclInvalidArgument, "ncclCommInitRankScalable: no unique ids");
  return join(made, ranks, id[0], rank);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return finish(comm, "ncclCommFinalize", false); }
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return comm == nullptr ? ncclSuccess : finish(comm, "ncclCommDestroy", true);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  return with(comm, "ncclCommAbort", [&] {
    Engine::instance().give_up(comm->tail);
    comm->live = false;
    return ncclSuccess;
  });
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return with(comm, "ncclCommGetAsyncError", [&] {
    if (error == nullptr) return fail(ncclInvalidArgument, "ncclCommGetAsyncError: asyncError is null");
    *error = comm->error;
    return ncclSuccess;
  });
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return with(comm, "ncclCommCount", [&] { return *count = comm->size, ncclSuccess; });
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return with(comm, "ncclCommCuDevice", [&] { return *device = comm->device, ncclSuccess; });
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return with(comm, "ncclCommUserRank", [&] { return *rank = comm->rank, ncclSuccess; });
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : fail(ncclUnhandledCudaError, "ncclMemAlloc");
}
ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : fail(ncclUnhandledCudaError, "ncclMemFree");
}
ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, size_t, void** handle) {
  return with(comm, "ncclCommRegister", [&] { return *handle = buffer, ncclSuccess; });
}
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void*) {
  return with(comm, "ncclCommDeregister", [] { return ncclSuccess; });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t, ncclWindow_t* window, int) {
  return with(comm, "ncclCommWindowRegister", [&] {
    if (window == nullptr) return fail(ncclInvalidArgument, "ncclCommWindowRegister: win is null");
    *window = static_cast<ncclWindow_t>(buffer);
    return ncclSuccess;
  });
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t) {
  return with(comm, "ncclCommWindowDeregister", [] { return ncclSuccess; });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  return with(comm, "ncclRedOpCreatePreMulSum", [&] {
    if (op == nullptr || scalar == nullptr || bytes_of(type) == 0)
      return fail(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: null, or no such data type");
    ScaledSum sum;
    sum.type = type;
    if (residence == ncclScalarDevice)
      sum.on_device = scalar;
    else
      std::memcpy(sum.immediate.data(), scalar, bytes_of(type));
    comm->scaled_sums.push_back(sum);
    *op = static_cast<ncclRedOp_t>(ncclNumOps + comm->scaled_sums.size() - 1);
    return ncclSuccess;
  });
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return with(comm, "ncclRedOpDestroy", [&] {
    const auto i = static_cast<std::size_t>(op) - ncclNumOps;
    if (op < ncclNumOps || i >= comm->scaled_sums.size() || !comm->scaled_sums[i].live)
      return fail(ncclInvalidArgument, "ncclRedOpDestroy: there is no such operator");
    comm->scaled_sums[i].live = false;
    return ncclSuccess;
  });
}
}
