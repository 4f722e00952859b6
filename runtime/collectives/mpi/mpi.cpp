// MPI for ranks under a judge: messages of the host, over the same connections as NCCL's.
#include "mpi.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "../judged.hpp"
#include "../nccl/diagnosis.hpp"
#include "../nccl/exchange.hpp"
#include "api/api.hpp"
#include "device/fault.hpp"

namespace rc = ridge::collectives;
using ridge::simt::Engine;

struct ridge_mpi_request {
  rc::Call call;
  rc::Slot slot;          // slot of the message that ends it
  void* data = nullptr;   // a receive's buffer
  std::size_t bytes = 0;  // room there
  int tag = 0;
  bool done = false;
  const void* sent = nullptr;   // the buffer of MPI_Isend,
  std::vector<char> as_it_was;  // and what was there
};

namespace {

constexpr std::size_t kEager = 4096;  // bytes that a send hands over without a receive

struct Mpi {
  ncclComm* comm = nullptr;
  std::size_t open_requests = 0;
  // Number of the next message by peer and tag: messages follow each other.
  std::map<std::pair<int, int>, std::uint64_t> sent, received;
};

[[noreturn]] void fatal(const std::string& what, ridge::Cause why = ridge::Cause::refused_call) {
  ridge_end_rank(why, false, "ridge: MPI: " + what + "\n");
}

Mpi& the_mpi() {
  static auto* state = new Mpi;
  return *state;
}

Mpi& mpi(MPI_Comm comm) {
  Mpi* state = &the_mpi();
  if (comm != MPI_COMM_WORLD) fatal("there is MPI_COMM_WORLD only");
  for (ncclComm* c : rc::Ranks::instance().of(rc::kMpiKey)) state->comm = c;
  if (state->comm == nullptr) fatal("this program is not one of several ranks");
  return *state;
}

std::size_t message_bytes(int count, MPI_Datatype type) {
  if (count < 0 || type < 100 || type > 999) fatal("a negative count, or a type that is not there");
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(type % 100);
}

void check_host(const void* data, std::size_t bytes, const char* call) {
  if (bytes == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const ridge::simt::Allocation* a = ridge::simt::DeviceMemory::instance().find(address);
  if (data == nullptr || (a != nullptr && a->kind == ridge::simt::MemoryKind::device))
    fatal(std::string(call) + " of device memory: this MPI knows the host's only, copy it there first",
          ridge::Cause::device_message);
}

void check_peer(const Mpi& m, int peer, const char* call) {
  if (peer < 0 || peer >= m.comm->size)
    fatal(std::string(call) + ": rank " + std::to_string(peer) + " of " + std::to_string(m.comm->size));
}

rc::Call call_of(rc::What what, int peer, int tag, std::size_t bytes, const void* caller) {
  return {what, 0,     static_cast<std::uint32_t>(tag),
          peer, bytes, reinterpret_cast<std::uintptr_t>(caller) - 1 - ridge::simt::program_base()};
}

MPI_Request begin_send(Mpi& m, const void* data, std::size_t bytes, int to, int tag, const void* caller) {
  check_peer(m, to, "MPI_Send");
  check_host(data, bytes, "MPI_Send");
  auto r = std::make_unique<ridge_mpi_request>();
  r->call = call_of(rc::What::mpi_send, to, tag, bytes, caller);
  const std::uint64_t number = m.sent[{to, tag}]++;
  const auto* p = static_cast<const char*>(data);
  rc::send(*m.comm, to,
           {{0, rc::Kind::data, number, static_cast<std::uint32_t>(tag)}, r->call, std::vector<char>(p, p + bytes)});
  r->slot = {static_cast<std::uint32_t>(to), rc::Kind::taken, number, static_cast<std::uint32_t>(tag)};
  r->done = bytes <= kEager;
  ++m.open_requests;
  return r.release();
}

MPI_Request begin_receive(Mpi& m, void* data, std::size_t bytes, int from, int tag, const void* caller) {
  check_peer(m, from, "MPI_Recv");
  check_host(data, bytes, "MPI_Recv");
  auto r = std::make_unique<ridge_mpi_request>();
  r->call = call_of(rc::What::mpi_receive, from, tag, bytes, caller);
  r->slot = {static_cast<std::uint32_t>(from), rc::Kind::data, m.received[{from, tag}]++,
             static_cast<std::uint32_t>(tag)};
  r->data = data;
  r->bytes = bytes;
  r->tag = tag;
  ++m.open_requests;
  return r.release();
}

// True: it has ended.
bool advance(Mpi& m, ridge_mpi_request& r, MPI_Status* status) {
  rc::Message message;
  if (r.done || !rc::take(*m.comm, r.slot, message)) return r.done;
  r.done = true;
  if (r.call.what == rc::What::mpi_send) return true;
  if (message.data.size() > r.bytes)
    fatal("rank " + std::to_string(m.comm->rank) + " receives " + std::to_string(message.data.size()) +
              " bytes from rank " + std::to_string(r.call.root) + " where it has room for " + std::to_string(r.bytes),
          ridge::Cause::message_mismatch);
  if (!message.data.empty()) std::memcpy(r.data, message.data.data(), message.data.size());
  if (status != nullptr) *status = {r.call.root, r.tag, MPI_SUCCESS, message.data.size()};
  if (message.data.size() > kEager)
    rc::send(*m.comm, r.call.root,
             {{0, rc::Kind::taken, r.slot.number, static_cast<std::uint32_t>(r.tag)}, r.call, {}});
  return true;
}

// The calls that this rank is in, for the diagnosis.
class Waiting : public rc::Task {
 public:
  Waiting(ncclComm& comm, const rc::Call& call) : Task(comm, {call, nullptr, nullptr}) { comm.inside.push_back(this); }
  ~Waiting() override { std::erase(comm_.inside, this); }
  void begin() override {}
  bool advance() override { return false; }
  int waits_for() const override { return planned_.call.root; }
  double seconds() const override { return 0; }
  void tell(double) override {}
  bool hear(double&) override { return true; }
};

// MPI 3.1, section 3.7.2: until a send has ended, its buffer is MPI's. Here it was copied, elsewhere it may not have
// been.
void check_unchanged(const Mpi& m, const ridge_mpi_request& r) {
  if (r.as_it_was.empty() || std::memcmp(r.sent, r.as_it_was.data(), r.as_it_was.size()) == 0) return;
  const std::string call = "MPI_Isend" + rc::text_of(r.call).substr(std::strlen("MPI_Send"));
  fatal("rank " + std::to_string(m.comm->rank) + ": " + call + rc::place_of(r.call.pc) +
            ": the buffer was changed before MPI_Wait: until then it is MPI's, which may not have read it",
        ridge::Cause::early_reuse);
}

void finish(Mpi& m, MPI_Request* requests, int count, MPI_Status* statuses) {
  Engine& engine = Engine::instance();
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    ridge_mpi_request* open = nullptr;
    for (int i = 0; i < count; ++i)
      if (requests[i] != nullptr && !advance(m, *requests[i], statuses == nullptr ? nullptr : statuses + i))
        open = open == nullptr ? requests[i] : open;
    if (open == nullptr) break;
    const Waiting here(*m.comm, open->call);
    const std::uint64_t before = engine.activity().count();
    engine.wait_for_arrival(0.1);
    if (engine.activity().count() != before) since = std::chrono::steady_clock::now();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - since;
    if (waited.count() > 0.1) rc::look_for_deadlock(waited.count());
  }
  for (int i = 0; i < count; ++i) {
    if (requests[i] == nullptr) continue;
    check_unchanged(m, *requests[i]);
    --m.open_requests;
    delete requests[i];
    requests[i] = nullptr;
  }
}

template <class Body>
int locked(MPI_Comm comm, Body body) {
  if (ridge::simt::api::refusal() != cudaSuccess) fatal("a call inside a kernel or a host function");
  std::lock_guard lock(Engine::instance().mutex);
  rc::Ranks::instance().note_thread();
  body(mpi(comm));
  return MPI_SUCCESS;
}

}  // namespace

std::size_t ridge_open_requests() {
  std::lock_guard lock(Engine::instance().mutex);
  return the_mpi().open_requests;
}

#define RIDGE_CALLER __builtin_return_address(0)

extern "C" {

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return locked(comm, [&](Mpi& m) { *rank = m.comm->rank; });
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return locked(comm, [&](Mpi& m) { *size = m.comm->size; });
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const void* caller = RIDGE_CALLER;
  if (to == MPI_PROC_NULL) return MPI_SUCCESS;
  return locked(comm, [&](Mpi& m) {
    MPI_Request r = begin_send(m, data, message_bytes(count, type), to, tag, caller);
    finish(m, &r, 1, nullptr);
  });
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const void* caller = RIDGE_CALLER;
  if (from == MPI_PROC_NULL) return MPI_SUCCESS;
  return locked(comm, [&](Mpi& m) {
    MPI_Request r = begin_receive(m, data, message_bytes(count, type), from, tag, caller);
    finish(m, &r, 1, status);
  });
}
int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const void* caller = RIDGE_CALLER;
  return locked(comm, [&](Mpi& m) {
    MPI_Request r[2] = {};
    MPI_Status statuses[2];
    if (to != MPI_PROC_NULL) r[0] = begin_send(m, send, message_bytes(send_count, send_type), to, send_tag, caller);
    if (from != MPI_PROC_NULL)
      r[1] = begin_receive(m, receive, message_bytes(receive_count, receive_type), from, receive_tag, caller);
    finish(m, r, 2, statuses);
    if (status != nullptr) *status = statuses[1];
  });
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  const void* caller = RIDGE_CALLER;
  *request = MPI_REQUEST_NULL;
  if (to == MPI_PROC_NULL) return MPI_SUCCESS;
  return locked(comm, [&](Mpi& m) {
    const std::size_t bytes = message_bytes(count, type);
    *request = begin_send(m, data, bytes, to, tag, caller);
    const auto* p = static_cast<const char*>(data);
    (*request)->sent = data;
    (*request)->as_it_was.assign(p, p + bytes);
  });
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const void* caller = RIDGE_CALLER;
  *request = MPI_REQUEST_NULL;
  if (from == MPI_PROC_NULL) return MPI_SUCCESS;
  return locked(comm,
                [&](Mpi& m) { *request = begin_receive(m, data, message_bytes(count, type), from, tag, caller); });
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return locked(MPI_COMM_WORLD, [&](Mpi& m) { finish(m, request, 1, status); });
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return locked(MPI_COMM_WORLD, [&](Mpi& m) { finish(m, requests, count, statuses); });
}
int MPI_Barrier(MPI_Comm comm) {
  constexpr int kTag = 1 << 30;
  const void* caller = RIDGE_CALLER;
  return locked(comm, [&](Mpi& m) {
    // Doubling distances: after the last round everybody has heard of everybody.
    for (int d = 1; d < m.comm->size; d *= 2) {
      const int to = (m.comm->rank + d) % m.comm->size, from = (m.comm->rank + m.comm->size - d) % m.comm->size;
      MPI_Request r[2] = {begin_send(m, nullptr, 0, to, kTag + d, caller),
                          begin_receive(m, nullptr, 0, from, kTag + d, caller)};
      finish(m, r, 2, nullptr);
    }
  });
}
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = static_cast<int>(status->ridge_bytes / static_cast<std::size_t>(type % 100));
  return MPI_SUCCESS;
}
}
