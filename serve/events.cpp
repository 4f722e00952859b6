#include "serve/events.hpp"

#include <chrono>

namespace ridge::serve {

std::string as_event(const std::string& kind, const nlohmann::json& data) {
  return "event: " + kind + "\ndata: " + data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n\n";
}

void Events::tell(const std::string& kind, const nlohmann::json& data) {
  {
    std::lock_guard lock(mutex_);
    kept_.push_back({++last_, as_event(kind, data)});
    if (kept_.size() > kKept) kept_.pop_front();
  }
  new_.notify_all();
}

std::vector<Told> Events::wait(std::uint64_t after, double seconds) {
  std::unique_lock lock(mutex_);
  new_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ended_ || last_ > after; });
  std::vector<Told> out;
  for (const Told& t : kept_)
    if (!ended_ && t.number > after) out.push_back(t);
  return out;
}

std::uint64_t Events::last() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void Events::end() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  new_.notify_all();
}

bool Events::ended() const {
  std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace ridge::serve
