// What a server reads and answers, without the library that moves it: a request, a response, an event stream, and a
// WebSocket.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge::net {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string path;    // decoded, "/TOKEN/api/labs"; empty where the target is no path
  std::string query;   // as sent, behind '?'
  std::string remote;  // the client's address, without its port
  std::string body;
  Fields fields;
  bool upgrade = false;  // asks for a WebSocket

  // The first header of this name, in any case; empty where there is none.
  std::string header(std::string_view name) const;
  // The values of this name in the query, decoded; the first of them, or an empty text.
  std::vector<std::string> parameters(std::string_view name) const;
  std::string parameter(std::string_view name) const;
};

// "%20" as the byte that it stands for. Nothing where an escape is damaged.
std::optional<std::string> decoded(std::string_view text);

// A response that stays open and sends server-sent events; gone once its client has left.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // May be called from any thread. A client that takes too little is dropped.
  virtual void send(std::string text) = 0;
};

// A WebSocket. All calls, and all functions passed to it, run on the server's loop.
class Socket {
 public:
  virtual ~Socket() = default;
  // Reads one message; nothing once the socket has closed.
  virtual void receive(std::function<void(std::optional<std::string>)> got) = 0;
  // Sends one binary message, one at a time. `sent` hears whether the network has taken it.
  virtual void send(std::string message, std::function<void(bool taken)> sent) = 0;
  // Tells the browser why; at most 123 bytes arrive.
  virtual void close(const std::string& why) = 0;
};

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  Fields fields;
  // Instead of a body. The function is kept as long as the client stays.
  std::function<void(const std::shared_ptr<EventStream>&)> stream;
  std::function<void(const std::shared_ptr<Socket>&)> socket;
};

// How a request's headers are judged, before its body is read.
struct Judged {
  std::optional<Response> refusal;
  bool known = false;  // the client has shown that it may be here: strangers are dropped before it
};

}  // namespace ridge::net
