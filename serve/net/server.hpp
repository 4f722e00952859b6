// A server for HTTP, server-sent events and WebSockets: one event loop moves all bytes, and a few workers answer
// requests, so that no client can hold a thread. What a client may send is bounded before it is read.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "serve/net/message.hpp"

namespace boost::asio {
class io_context;
}

namespace ridge::net {

struct Limits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 2 << 20;
  std::size_t connections = 200;         // at one time
  std::size_t strangers = 0;             // of them unknown ones of one address; 0: as many
  std::size_t stream_bytes = 1 << 20;    // of events that a slow client has not taken
  std::size_t message_bytes = 64 << 10;  // of a WebSocket's message from the browser
  std::size_t messages_a_second = 1000;  // of a WebSocket
  double header_seconds = 10;            // from a connection to its first request's headers
  double body_seconds = 30;
  double idle_seconds = 60;    // between requests of a known client
  double write_seconds = 20;   // and one more for each 32 KiB
  double socket_seconds = 60;  // a WebSocket's browser answers no ping
  std::size_t workers = 4;
};

// What a server serves.
struct Site {
  std::function<Judged(const Request&)> judge;     // on the loop; the body is empty yet
  std::function<Response(const Request&)> answer;  // on a worker, several at one time
  Fields fields;                                   // of every response
};

class Server {
 public:
  Server(Limits limits, Site site);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens at a port, or at any for 0. Returns the port, or -1 where the address or port cannot be had.
  int listen(const std::string& host, int port);
  // Serves until SIGINT, SIGTERM or SIGHUP, or until `goes_on`, asked each second, is false. `ends` then runs; answers
  // that are under way are sent within two seconds.
  void run(const std::function<bool()>& goes_on, const std::function<void()>& ends);
  boost::asio::io_context& loop();

  struct Parts;

 private:
  std::shared_ptr<Parts> parts_;
};

}  // namespace ridge::net
