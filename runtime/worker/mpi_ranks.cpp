// MPI (runtime/collectives/mpi/include) for ranks on GPUs, which are processes of one sandbox: a stream between each
// two of them. Every send hands its message over at once, so that what only works with luck elsewhere works here: the
// emulator is the one to find that. Ends the program where MPI would.
#include <mpi.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rank_end.hpp"

struct ridge_mpi_request {
  bool receive = false;
  int from = 0, tag = 0;
  std::uint64_t number = 0;  // number of messages from there with that tag
  void* data = nullptr;
  std::size_t room = 0;
};

namespace {

constexpr int kBarrierTag = -1, kHelloTag = -2;

struct Header {
  std::int32_t rank, tag;
  std::uint64_t bytes;
};

using ridge::protocol::Gate;

// `follows`: what another rank did is the cause.
[[noreturn]] void fatal(const std::string& what, Gate gate = Gate::launch, bool follows = false) {
  const ridge::Cause cause = gate == Gate::deadlock   ? ridge::Cause::rank_deadlock
                             : gate == Gate::mismatch ? ridge::Cause::message_mismatch
                                                      : ridge::Cause::refused_call;
  ridge::worker::end_rank(gate, cause, follows, "ridge: MPI: " + what + "\n");
}

bool write_all(int to, const void* data, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t n = send(to, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int from, void* data, std::size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t n = recv(from, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

template <class V>
auto& of(V& v, int rank) {
  return v[static_cast<std::size_t>(rank)];
}

class World {
 public:
  static World& instance() {
    static auto* world = new World;
    return *world;
  }

  void start(int rank, int ranks) {
    rank_ = rank, ranks_ = ranks;
    sockets_.assign(static_cast<std::size_t>(ranks), -1);
    gone_.assign(static_cast<std::size_t>(ranks), 0);
    sending_ = std::vector<std::mutex>(static_cast<std::size_t>(ranks));
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto [own, own_size] = address_of(rank);
    if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&own), own_size) != 0 ||
        listen(listener, ranks) != 0)
      fatal(std::string("no socket for this rank: ") + std::strerror(errno));
    for (int r = 0; r < rank; ++r) reach(r);
    for (int r = rank + 1; r < ranks; ++r) {
      const int s = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      Header hello{};
      if (s < 0 || !read_all(s, &hello, sizeof hello) || hello.rank <= rank || hello.rank >= ranks)
        fatal("a rank does not say who it is");
      of(sockets_, hello.rank) = s;
    }
    close(listener);
    for (int r = 0; r < ranks; ++r)
      if (r != rank) std::thread(&World::listen_to, this, r).detach();
  }

  int rank() const { return need(), rank_; }
  int ranks() const { return need(), ranks_; }

  void put(int to, int tag, const void* data, std::size_t bytes) {
    check(to, "send to");
    if (to == rank_)
      return arrived(rank_, tag, {static_cast<const char*>(data), static_cast<const char*>(data) + bytes});
    std::lock_guard lock(of(sending_, to));
    const Header h{rank_, tag, bytes};
    if (!write_all(of(sockets_, to), &h, sizeof h) || !write_all(of(sockets_, to), data, bytes))
      fatal("rank " + std::to_string(to) + " is gone, and rank " + std::to_string(rank_) + " sends to it",
            Gate::deadlock, true);
  }

  std::uint64_t ask(int from, int tag) {
    check(from, "receive from");
    std::lock_guard lock(mutex_);
    return asked_[{from, tag}]++;
  }

  // Waits for a message, and gives its bytes.
  std::size_t get(const ridge_mpi_request& r) {
    std::unique_lock lock(mutex_);
    Queue& queue = queues_[{r.from, r.tag}];
    changed_.wait(lock,
                  [&] { return queue.messages.count(r.number) != 0 || (r.from != rank_ && of(gone_, r.from) != 0); });
    const auto found = queue.messages.find(r.number);
    if (found == queue.messages.end())
      fatal("rank " + std::to_string(r.from) + " is gone, and rank " + std::to_string(rank_) +
                " waits for a message of it",
            Gate::deadlock, true);
    const std::vector<char> message = std::move(found->second);
    queue.messages.erase(found);
    if (message.size() > r.room)
      fatal("rank " + std::to_string(rank_) + " has room for " + std::to_string(r.room) + " bytes, and rank " +
                std::to_string(r.from) + " sends " + std::to_string(message.size()),
            Gate::mismatch);
    if (!message.empty()) std::memcpy(r.data, message.data(), message.size());
    return message.size();
  }

 private:
  struct Queue {
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::vector<char>> messages;  // key: number
  };

  void need() const {
    if (ranks_ == 0) fatal("this program is not one of several ranks");
  }
  void check(int rank, const char* what) const {
    need();
    if (rank < 0 || rank >= ranks_)
      fatal(std::string("there is no rank ") + std::to_string(rank) + " to " + what + ": " + std::to_string(ranks_) +
            " ranks");
  }

  // Names are the sandbox's own; the parent has started all ranks.
  static std::pair<sockaddr_un, socklen_t> address_of(int rank) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    const int n =
        std::snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "ridge-mpi-%d-%d", static_cast<int>(getppid()), rank);
    return {a, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n))};
  }

  void reach(int r) {
    const auto [address, size] = address_of(r);
    for (int tries = 0;; ++tries) {
      const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (s >= 0 && connect(s, reinterpret_cast<const sockaddr*>(&address), size) == 0) {
        const Header hello{rank_, kHelloTag, 0};
        if (!write_all(s, &hello, sizeof hello))
          fatal("rank " + std::to_string(r) + " is gone at the start", Gate::deadlock);
        of(sockets_, r) = s;
        return;
      }
      if (s >= 0) close(s);
      if (tries == 6000) fatal("rank " + std::to_string(r) + " does not come", Gate::deadlock);
      usleep(10000);
    }
  }

  void arrived(int from, int tag, std::vector<char> message) {
    std::lock_guard lock(mutex_);
    Queue& queue = queues_[{from, tag}];
    queue.messages.emplace(queue.next++, std::move(message));
    changed_.notify_all();
  }

  void listen_to(int r) {
    Header h{};
    while (read_all(of(sockets_, r), &h, sizeof h)) {
      std::vector<char> message(h.bytes);
      if (!read_all(of(sockets_, r), message.data(), message.size())) break;
      arrived(r, h.tag, std::move(message));
    }
    std::lock_guard lock(mutex_);
    of(gone_, r) = 1;
    changed_.notify_all();
  }

  int rank_ = 0, ranks_ = 0;
  std::vector<int> sockets_;
  std::vector<std::mutex> sending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> gone_;
  std::map<std::pair<int, int>, Queue> queues_;         // key: rank and tag
  std::map<std::pair<int, int>, std::uint64_t> asked_;  // receives so far
};

World& world(MPI_Comm comm) {
  if (comm != MPI_COMM_WORLD) fatal("there is MPI_COMM_WORLD only");
  return World::instance();
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  if (count < 0 || type < 100 || type > 999) fatal("a negative count, or a type that is not there");
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(type % 100);
}

void send_now(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (tag < 0) fatal("a tag below 0");
  if (to != MPI_PROC_NULL) world(comm).put(to, tag, data, bytes_of(count, type));
}

ridge_mpi_request receive_later(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
  if (tag < 0) fatal("a tag below 0");
  ridge_mpi_request r{from != MPI_PROC_NULL, from, tag, 0, data, bytes_of(count, type)};
  if (r.receive) r.number = world(comm).ask(from, tag);
  return r;
}

void finish(const ridge_mpi_request& r, MPI_Status* status) {
  const std::size_t bytes = r.receive ? World::instance().get(r) : 0;
  if (status != MPI_STATUS_IGNORE) *status = {r.from, r.tag, MPI_SUCCESS, bytes};
}

}  // namespace

// Called by the worker before anything of the submission.
extern "C" void ridge_mpi_start(int rank, int ranks) { World::instance().start(rank, ranks); }

int MPI_Comm_rank(MPI_Comm comm, int* rank) { return *rank = world(comm).rank(), MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm comm, int* size) { return *size = world(comm).ranks(), MPI_SUCCESS; }

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  send_now(data, count, type, to, tag, comm);
  return MPI_SUCCESS;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  finish(receive_later(data, count, type, from, tag, comm), status);
  return MPI_SUCCESS;
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  const ridge_mpi_request r = receive_later(in, in_count, in_type, from, in_tag, comm);
  send_now(out, out_count, out_type, to, out_tag, comm);
  finish(r, status);
  return MPI_SUCCESS;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  send_now(data, count, type, to, tag, comm);
  *request = new ridge_mpi_request{false, to, tag, 0, nullptr, 0};
  return MPI_SUCCESS;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  *request = new ridge_mpi_request(receive_later(data, count, type, from, tag, comm));
  return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  finish(**request, status);
  delete *request;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count; ++i)
    MPI_Wait(requests + i, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i);
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  World& w = world(comm);
  for (int r = 0; r < w.ranks(); ++r)
    if (r != w.rank()) w.put(r, kBarrierTag, nullptr, 0);
  for (int r = 0; r < w.ranks(); ++r)
    if (r != w.rank()) w.get({true, r, kBarrierTag, w.ask(r, kBarrierTag), nullptr, 0});
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = static_cast<int>(status->ridge_bytes / static_cast<std::size_t>(type % 100));
  return MPI_SUCCESS;
}
