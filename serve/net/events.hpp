// What happens on the server, told to all tabs at once as server-sent events.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/net/message.hpp"

namespace ridge::net {

// "event: KIND", "data: JSON", and the empty line that ends an event.
std::string as_event(const std::string& kind, const nlohmann::json& data);

class Events {
 public:
  void tell(const std::string& kind, const nlohmann::json& data);
  // Tells this tab, too, from now on. `hello` is made and sent first: no event falls between it and the next.
  void listen(const std::shared_ptr<EventStream>& tab, const std::function<std::string()>& hello);
  // Tabs that are there.
  std::size_t listeners() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<EventStream>> tabs_;
};

}  // namespace ridge::net
