#include "web/pipe.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "web/wire.hpp"

namespace ridge::viz::web {

void Pipe::wait(double seconds) {
  pollfd one{in_, POLLIN, 0};
  const double whole = std::floor(std::clamp(seconds, 0.0, 3600.0));
  const timespec most{static_cast<time_t>(whole), static_cast<long>((std::clamp(seconds, 0.0, 3600.0) - whole) * 1e9)};
  if (ppoll(&one, 1, std::isinf(seconds) ? nullptr : &most, nullptr) <= 0) return;
  char some[16 << 10];
  const ssize_t count = read(in_, some, sizeof some);
  if (count > 0)
    bytes_.append(some, static_cast<std::size_t>(count));
  else if (count == 0 || (errno != EINTR && errno != EAGAIN))
    ended_ = true;
}

std::optional<std::string> Pipe::next() {
  std::uint32_t length = 0;
  if (bytes_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > kMostInput)
    throw MessageError(fmt::format("the message has {} bytes, and the most is {}", length, kMostInput));
  if (bytes_.size() < sizeof length + length) return std::nullopt;
  std::string message = bytes_.substr(sizeof length, length);
  bytes_.erase(0, sizeof length + length);
  return message;
}

void Pipe::send(std::string_view message) {
  const auto write_all = [&](std::string_view bytes) {
    while (!bytes.empty() && !ended_) {
      const ssize_t count = write(out_, bytes.data(), bytes.size());
      if (count > 0)
        bytes.remove_prefix(static_cast<std::size_t>(count));
      else if (errno == EAGAIN) {
        pollfd one{out_, POLLOUT, 0};
        poll(&one, 1, -1);
      } else if (errno != EINTR)
        ended_ = true;
    }
  };
  do {
    const std::string_view part = message.substr(0, kMostOutput);
    const auto length = static_cast<std::uint32_t>(part.size());
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    write_all(bytes += part);
    message.remove_prefix(part.size());
  } while (!message.empty() && !ended_);
}

}  // namespace ridge::viz::web
