#include "serve/net/events.hpp"

#include <algorithm>

namespace ridge::net {

std::string as_event(const std::string& kind, const nlohmann::json& data) {
  return "event: " + kind + "\ndata: " + data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n\n";
}

void Events::tell(const std::string& kind, const nlohmann::json& data) {
  const std::string text = as_event(kind, data);
  std::lock_guard lock(mutex_);
  tabs_.erase(std::remove_if(tabs_.begin(), tabs_.end(), [](const auto& tab) { return tab.expired(); }), tabs_.end());
  for (const auto& tab : tabs_)
    if (const auto open = tab.lock()) open->send(text);
}

void Events::listen(const std::shared_ptr<EventStream>& tab, const std::function<std::string()>& hello) {
  std::lock_guard lock(mutex_);
  tab->send(hello());
  tabs_.push_back(tab);
}

std::size_t Events::listeners() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(tabs_.begin(), tabs_.end(), [](const auto& tab) { return !tab.expired(); }));
}

}  // namespace ridge::net
