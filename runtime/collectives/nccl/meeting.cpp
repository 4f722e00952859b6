// The meeting of the ranks of a new communicator: ncclGetUniqueId opens a meeting point in the calling process,
// whose address is in the id; every rank goes there, says where it can be reached, and is told where the others are.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

#include "node.hpp"
#include "socket.hpp"

namespace ridge::collectives {

namespace {

constexpr std::uint32_t kMagic = 0x52444E43;  // a build's own: both ends are the same library
constexpr double kPatience = 5;               // seconds until the ranks that wait are told who is missing,
constexpr double kLimit = 60;                 // and until they are told that nobody waits any more

struct Id {
  std::uint32_t magic, reserved;
  std::uint64_t key;
  char address[64];
};
static_assert(sizeof(Id) <= 128);

struct Visit {
  std::uint32_t magic;
  std::int32_t rank, ranks;
  std::uint32_t reserved;
  std::uint64_t key, process;
  char address[64];
};

struct Reply {  // then `members` times a member, or `text` bytes
  std::uint32_t members, text;
};

struct Seat {
  std::uint64_t process;
  char address[64];
};

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

void tell(int socket, const std::string& text) {
  const Reply reply{0, static_cast<std::uint32_t>(text.size())};
  send_all(socket, &reply, sizeof reply) && send_all(socket, text.data(), text.size());
}

// Receives the ranks; the thread ends when all have come.
void host(int listener, std::uint64_t key) {
  std::vector<int> sockets;
  std::vector<Seat> seats;
  std::size_t missing = 1;
  double waited = 0;
  while (missing > 0) {
    pollfd p{listener, POLLIN, 0};
    const int ready = poll(&p, 1, sockets.empty() ? -1 : static_cast<int>(kPatience * 1000));
    if (ready < 0 && errno != EINTR) break;
    if (ready == 0) {
      waited += kPatience;
      std::string who;
      for (std::size_t r = 0; r < sockets.size(); ++r)
        if (sockets[r] < 0) who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
      who += " of " + std::to_string(sockets.size());
      const bool over = waited >= kLimit;
      for (int s : sockets)
        if (s >= 0)
          tell(s,
               over ? "!" + who + " never called ncclCommInitRank" : "waits for " + who + " to call ncclCommInitRank");
      if (over) break;
      continue;
    }
    const int s = ready > 0 ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1;
    if (s < 0) continue;
    Visit v;
    if (receive_all(s, &v, sizeof v, kPatience) != 1 || v.magic != kMagic || v.key != key || v.ranks < 1 ||
        v.rank < 0 || v.rank >= v.ranks) {
      close(s);
      continue;
    }
    if (sockets.empty()) {
      sockets.assign(static_cast<std::size_t>(v.ranks), -1);
      seats.resize(sockets.size());
      missing = sockets.size();
    }
    const auto rank = static_cast<std::size_t>(v.rank);
    if (sockets.size() != static_cast<std::size_t>(v.ranks)) {
      tell(s, "!rank " + std::to_string(rank) + " says that there are " + std::to_string(v.ranks) +
                  " ranks, the first one that came said " + std::to_string(sockets.size()));
      close(s);
    } else if (sockets[rank] >= 0) {
      tell(s, "!there is a rank " + std::to_string(rank) + " already: each needs a number of its own");
      close(s);
    } else {
      sockets[rank] = s;
      seats[rank].process = v.process;
      std::memcpy(seats[rank].address, v.address, sizeof v.address);
      --missing;
    }
  }
  const Reply reply{static_cast<std::uint32_t>(seats.size()), 0};
  for (int s : sockets) {
    if (s < 0) continue;
    if (missing == 0) send_all(s, &reply, sizeof reply) && send_all(s, seats.data(), seats.size() * sizeof(Seat));
    close(s);
  }
  close(listener);
}

}  // namespace

bool open_meeting(char* out) {
  Id id{};
  id.magic = kMagic;
  id.key = random_number();
  std::string address;
  const int listener = listen_on_free_port(address);
  if (listener < 0) return false;
  std::snprintf(id.address, sizeof id.address, "%s", address.c_str());
  std::thread(host, listener, id.key).detach();
  std::memset(out, 0, 128);
  std::memcpy(out, &id, sizeof id);
  return true;
}

std::vector<Member> meet(const char* bytes, int rank, int ranks, std::uint64_t& key, std::string& why) {
  Id id;
  std::memcpy(&id, bytes, sizeof id);
  if (id.magic != kMagic) {
    why = "this is no id of ncclGetUniqueId: was it sent to this rank?";
    return {};
  }
  key = id.key;
  const std::string own = Node::instance().address();
  const int s = own.empty() ? -1 : connect_to(std::string(id.address, strnlen(id.address, sizeof id.address)));
  if (s < 0) {
    why = std::string("cannot reach the process that called ncclGetUniqueId: ") + std::strerror(errno);
    return {};
  }
  Visit v{};
  v.magic = kMagic;
  v.rank = rank;
  v.ranks = ranks;
  v.key = id.key;
  v.process = Node::instance().token();
  std::snprintf(v.address, sizeof v.address, "%s", own.c_str());
  std::vector<Member> members;
  bool good = send_all(s, &v, sizeof v);
  while (good && members.empty()) {
    Reply reply;
    good = receive_all(s, &reply, sizeof reply, 3600) == 1;
    if (!good) break;
    if (reply.text > 0) {
      std::string text(reply.text, ' ');
      good = receive_all(s, text.data(), text.size(), 60) == 1;
      if (good && text.front() == '!') {
        why = text.substr(1);
        break;
      }
      std::fprintf(stderr, "ridge: NCCL: rank %d %s\n", rank, text.c_str());
      continue;
    }
    std::vector<Seat> seats(reply.members);
    good = receive_all(s, seats.data(), seats.size() * sizeof(Seat), 60) == 1;
    for (const Seat& seat : seats)
      members.push_back({seat.process, std::string(seat.address, strnlen(seat.address, sizeof seat.address))});
  }
  close(s);
  if (members.empty() && why.empty()) why = "the process that called ncclGetUniqueId has ended";
  return members;
}

}  // namespace ridge::collectives
