// Messages over a pipe: 4 bytes of length, then the message.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace ridge::viz::web {

class Pipe {
 public:
  Pipe(int in, int out) : in_(in), out_(out) {}
  // Waits up to `seconds` (infinity: for ever) for bytes, and reads what is there.
  void wait(double seconds);
  // The next whole message. Throws MessageError where its length is above the limit.
  std::optional<std::string> next();
  // Nobody sends or takes any more.
  bool ended() const { return ended_; }
  // Sends a message, in parts of kMostOutput bytes.
  void send(std::string_view message);

 private:
  int in_, out_;
  std::string bytes_;
  bool ended_ = false;
};

}  // namespace ridge::viz::web
