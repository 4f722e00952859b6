// The connections of this process: one to each other process that has ranks of its communicators, and a thread that
// reads them all. Messages go to the ranks' inboxes, and set waiting work going (Engine::arrived).
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
  std::uint64_t token() const { return token_; }  // a random number for this process
  // Everything goes through this socket from now on, to a judge that hands it on: ranks are processes 1, 2, ...
  void join(int socket, std::uint64_t process);
  bool judged() const { return judged_; }
  // Begins to listen at "host:port". Empty where that failed: errno has the reason.
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
  // A peer's message may come before its call in this process. No other message follows, and the host may never wait,
  // so such calls wake the thread from now on. With the engine's lock.
  void watch_calls();

 private:
  struct Connection;
  static constexpr std::uint64_t kHub = ~std::uint64_t{0};
  Node();
  void start();
  void run();
  void wake();
  void nudge();  // wakes the thread as a message would
  void flush(Connection& c);
  void leave();

  std::mutex mutex_;  // taken after the engine's
  std::uint64_t token_;
  int listener_ = -1, wake_read_ = -1, wake_write_ = -1;
  std::string address_;
  bool started_ = false, nudged_ = false, leaving_ = false, judged_ = false;
  int owner_ = 0;  // process that started it
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> strangers_;  // connections that have not named their process yet
  std::set<std::uint64_t> gone_;
  std::map<std::uint64_t, Traffic> traffic_;
};

// One process, as bootstrapping tells it to every rank.
struct Member {
  std::uint64_t process = 0;
  std::string address;
};

// Opens the meeting point of a new communicator in this process; false on failure: errno has the reason. `id`: 128
// bytes.
bool open_meeting(char* id);
// Goes there as rank `rank` of `ranks`, waits for the others and returns them all. Empty on failure: `why` says what
// failed.
std::vector<Member> meet(const char* id, int rank, int ranks, std::uint64_t& key, std::string& why);

}  // namespace ridge::collectives
