// This process among those whose ranks it talks to: one connection to each other process, and a thread that reads them
// all. What it reads goes to the ranks' inboxes, and peers' messages set waiting work going (Engine::arrived).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "message.hpp"

namespace ridge::collectives {

class Node {
 public:
  static Node& instance();
  std::uint64_t token() const { return token_; }  // of this process, random
  // Everything goes through this socket from now on, to a judge that hands it on: ranks are processes 1, 2, ...
  void join(int socket, std::uint64_t process);
  bool judged() const { return judged_; }
  // Begins to listen; "host:port". Empty: it could not, errno says why.
  std::string address();
  // Sees to a connection with another process: the one with the lower token connects. False: not within `seconds`.
  bool connect(std::uint64_t process, const std::string& address, std::uint64_t key, double seconds);
  // Queues a message for a rank of another process; dropped where that is gone.
  void write(std::uint64_t process, std::uint64_t key, int to, Message message);
  bool gone(std::uint64_t process);
  // Messages to and from another process so far, without those of the diagnosis.
  struct Traffic {
    std::uint64_t sent = 0, received = 0;
  };
  Traffic traffic(std::uint64_t process);
  // A peer's message may come before the call that it is for: nothing more comes then, and the host may never wait.
  // From now on such calls set the thread going. With the engine's lock.
  void watch_calls();

 private:
  struct Connection;
  static constexpr std::uint64_t kHub = ~std::uint64_t{0};
  Node();
  void start();
  void run();
  void wake();
  void nudge();  // as if a message had come
  void flush(Connection& c);
  void leave();

  std::mutex mutex_;  // taken after the engine's
  std::uint64_t token_;
  int listener_ = -1, wake_read_ = -1, wake_write_ = -1;
  std::string address_;
  bool started_ = false, nudged_ = false, leaving_ = false, judged_ = false;
  int owner_ = 0;  // process that started it
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> strangers_;  // have not said who they are
  std::set<std::uint64_t> gone_;
  std::map<std::uint64_t, Traffic> traffic_;
};

// What bootstrapping tells every rank.
struct Member {
  std::uint64_t process = 0;
  std::string address;
};

// Opens the meeting point of a new communicator in this process; false: errno says why. `id`: 128 bytes.
bool open_meeting(char* id);
// Goes there as rank `rank` of `ranks`, waits for the others, returns them all. Empty: `why` says what failed.
std::vector<Member> meet(const char* id, int rank, int ranks, std::uint64_t& key, std::string& why);

}  // namespace ridge::collectives
