// What happens on the server, told to all tabs at once: each waits here for what it has not heard yet.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridge::serve {

struct Told {
  std::uint64_t number = 0;
  std::string text;  // as a server-sent event
};

// "event: KIND", "data: JSON", and the empty line that ends an event.
std::string as_event(const std::string& kind, const nlohmann::json& data);

class Events {
 public:
  void tell(const std::string& kind, const nlohmann::json& data);
  // The events behind number `after`, as soon as there is one; none after `seconds`, and none after end(). A tab that
  // missed more than are kept gets the rest.
  std::vector<Told> wait(std::uint64_t after, double seconds);
  std::uint64_t last() const;
  void end();
  bool ended() const;

 private:
  static constexpr std::size_t kKept = 512;
  mutable std::mutex mutex_;
  std::condition_variable new_;
  std::deque<Told> kept_;
  std::uint64_t last_ = 0;
  bool ended_ = false;
};

}  // namespace ridge::serve
