#include "serve/net/crowd.hpp"

#include <algorithm>

namespace ridge::net {

std::map<std::string, std::size_t> Crowd::strangers_by_address() const {
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, client] : all_)
    if (!client.known) ++counts[client.address];
  return counts;
}

std::optional<Crowd::Id> Crowd::oldest_stranger(const std::string& address) const {
  std::optional<Id> busy;
  for (const auto& [id, client] : all_) {
    if (client.known || client.address != address) continue;
    if (!client.busy) return id;
    if (!busy) busy = id;
  }
  return busy;
}

std::optional<Crowd::Id> Crowd::add(Id id, const std::string& address) {
  all_[id] = {address, false, false, ++clock_};
  const auto counts = strangers_by_address();
  if (strangers_ != 0 && counts.at(address) > strangers_) return oldest_stranger(address);
  if (all_.size() <= most_) return std::nullopt;
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (const auto oldest = oldest_stranger(most->first); oldest != id) return oldest;
  std::optional<Id> idle;
  for (const auto& [other, client] : all_)
    if (client.known && !client.busy && (!idle || client.used < all_.at(*idle).used)) idle = other;
  return idle ? idle : id;
}

void Crowd::is_known(Id id) {
  if (const auto at = all_.find(id); at != all_.end()) at->second.known = true;
}

void Crowd::is_busy(Id id, bool busy) {
  if (const auto at = all_.find(id); at != all_.end()) at->second.busy = busy, at->second.used = ++clock_;
}

}  // namespace ridge::net
