// What the switchboard hands on, counts, and refuses.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "collectives/judged.hpp"
#include "collectives/nccl/frame.hpp"
#include "grader/worker/switchboard.hpp"
#include "support/catch.hpp"

using namespace ridge;
using collectives::Frame;
using collectives::Kind;

namespace {

// The workers' ends, as workers have them.
struct Ends {
  std::vector<int> fds;
  Ends(Switchboard& board, int ranks) {
    for (int r = 0; r < ranks; ++r) {
      fds.push_back(dup(board.end_of(r)));
      const timeval seconds{5, 0};
      setsockopt(fds.back(), SOL_SOCKET, SO_RCVTIMEO, &seconds, sizeof seconds);
    }
    board.started();
  }
  ~Ends() {
    for (int fd : fds) close(fd);
  }
};

Frame frame(int from, int to, std::uint64_t bytes, Kind kind = Kind::data) {
  Frame f;
  f.from = static_cast<std::uint64_t>(from) + 1;
  f.to = static_cast<std::uint64_t>(to) + 1;
  f.key = collectives::kWorldKey;
  f.slot.kind = kind;
  f.bytes = bytes;
  return f;
}

void say(int fd, const Frame& f, const std::string& data = "") {
  std::string all(reinterpret_cast<const char*>(&f), sizeof f);
  all += data;
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t n = send(fd, all.data() + at, all.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

// Empty: closed, or nothing came for 5 s.
std::string hear(int fd, std::size_t bytes) {
  std::string text(bytes, 0);
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = recv(fd, text.data() + at, bytes - at, 0);
    if (n <= 0) return "";
    at += static_cast<std::size_t>(n);
  }
  return text;
}

bool closed(int fd) {
  char c;
  const ssize_t n = recv(fd, &c, 1, 0);
  return n == 0 || (n < 0 && errno == ECONNRESET);  // with unread bytes of ours
}

}  // namespace

TEST_CASE("messages arrive whole, and data is counted") {
  Switchboard board(3);
  Ends ends(board, 3);
  const std::string data(300000, 'x');  // more than a socket holds
  std::thread other([&] { say(ends.fds[0], frame(0, 2, data.size()), data); });
  const std::string got = hear(ends.fds[2], sizeof(Frame) + data.size());
  other.join();
  REQUIRE(got.size() == sizeof(Frame) + data.size());
  CHECK(got.substr(sizeof(Frame)) == data);

  say(ends.fds[2], frame(2, 0, 0, Kind::taken));  // no data
  say(ends.fds[2], frame(2, 1, 5), "hello");
  CHECK(hear(ends.fds[0], sizeof(Frame)).size() == sizeof(Frame));
  CHECK(hear(ends.fds[1], sizeof(Frame) + 5).substr(sizeof(Frame)) == "hello");
  const auto messages = board.take();
  REQUIRE(messages.size() == 2);
  CHECK((messages[0].from == 0 && messages[0].to == 2 && messages[0].bytes == data.size()));
  CHECK((messages[1].from == 2 && messages[1].to == 1 && messages[1].bytes == 5));
  CHECK_FALSE(messages[1].host);
  CHECK(board.take().empty());
}

TEST_CASE("what was sent comes rank by rank, whichever rank was first") {
  Switchboard board(3);
  Ends ends(board, 3);
  for (const int from : {2, 1, 2, 0}) {
    const int to = (from + 1) % 3;
    say(ends.fds[from], frame(from, to, 4), "data");
    REQUIRE(hear(ends.fds[to], sizeof(Frame) + 4).size() == sizeof(Frame) + 4);
  }
  const auto messages = board.take();
  REQUIRE(messages.size() == 4);
  CHECK((messages[0].from == 0 && messages[1].from == 1 && messages[2].from == 2 && messages[3].from == 2));
}

TEST_CASE("MPI's data is told apart") {
  Switchboard board(2);
  Ends ends(board, 2);
  Frame f = frame(1, 0, 3);
  f.key = collectives::kMpiKey;
  say(ends.fds[1], f, "abc");
  CHECK(hear(ends.fds[0], sizeof(Frame) + 3).size() == sizeof(Frame) + 3);
  const auto messages = board.take();
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].host);
}

TEST_CASE("a rank that speaks for another, to nobody, or without end, is cut off") {
  for (Frame wrong : {frame(1, 1, 0), frame(0, 2, 0), frame(0, -1, 0), frame(0, 1, std::uint64_t{1} << 40)}) {
    Switchboard board(2);
    Ends ends(board, 2);
    say(ends.fds[0], wrong);
    CHECK(closed(ends.fds[0]));
    CHECK(board.take().empty());
    // The others go on.
    say(ends.fds[1], frame(1, 1, 2), "me");
    CHECK(hear(ends.fds[1], sizeof(Frame) + 2).size() == sizeof(Frame) + 2);
  }
}

TEST_CASE("closing it ends all lines, also while one is full") {
  Switchboard board(2);
  Ends ends(board, 2);
  say(ends.fds[0], frame(0, 1, 1 << 22), std::string(1 << 22, 'y'));  // nobody reads
  board.close();
  CHECK(closed(ends.fds[0]));
}

TEST_CASE("steps of a collective are told from messages") {
  Switchboard board(2);
  Ends ends(board, 2);
  say(ends.fds[0], frame(0, 1, 3), "abc");
  say(ends.fds[0], frame(0, 1, 3, Kind::collective), "abc");
  CHECK(hear(ends.fds[1], 2 * (sizeof(Frame) + 3)).size() == 2 * (sizeof(Frame) + 3));
  const auto messages = board.take();
  REQUIRE(messages.size() == 2);
  CHECK_FALSE(messages[0].collective);
  CHECK(messages[1].collective);
}
