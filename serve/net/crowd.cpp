#include "serve/net/crowd.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

namespace ridge::net {

template <class Is>
std::optional<Crowd::Id> Crowd::oldest_stranger(const Is& is) const {
  std::optional<Id> busy;
  for (const auto& [id, client] : all_) {
    if (client.known || !is(client)) continue;
    if (!client.busy) return id;
    if (!busy) busy = id;
  }
  return busy;
}

template <class Is>
std::size_t Crowd::strangers(const Is& is) const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [&](const auto& at) { return !at.second.known && is(at.second); }));
}

// The oldest stranger but `id`, of the source that has the most; of equals, of the one that has the oldest.
std::optional<Crowd::Id> Crowd::of_the_most(Id id) const {
  std::map<std::string, std::size_t> counts;
  for (const auto& [other, client] : all_)
    if (!client.known) ++counts[client.source];
  std::size_t most = 0;
  std::string source;
  for (const auto& [other, client] : all_)
    if (other != id && !client.known && counts[client.source] > most)
      most = counts[client.source], source = client.source;
  if (most == 0) return std::nullopt;
  const auto oldest = oldest_stranger([&](const Client& c) { return c.source == source && &c != &all_.at(id); });
  return oldest;
}

std::optional<Crowd::Id> Crowd::add(Id id, const std::string& source, bool other_user) {
  all_[id] = {source, other_user, false, false, ++clock_};
  const auto other = [](const Client& c) { return c.other_user; };
  const auto same = [&](const Client& c) { return c.source == source; };
  if (other_user && strangers(other) > others_) return oldest_stranger(other);
  if (strangers_ != 0 && strangers(same) > strangers_) return oldest_stranger(same);
  if (all_.size() <= most_) return std::nullopt;
  if (const auto oldest = oldest_stranger(other)) return oldest;  // it may be the new one
  if (const auto oldest = of_the_most(id)) return oldest;
  std::optional<Id> idle;
  for (const auto& [at, client] : all_)
    if (client.known && !client.busy && (!idle || client.used < all_.at(*idle).used)) idle = at;
  return idle ? idle : id;
}

std::string source_of(const std::string& address) {
  boost::system::error_code ec;
  auto at = boost::asio::ip::make_address(address, ec);
  if (ec) return address;
  if (at.is_v6() && at.to_v6().is_v4_mapped())
    at = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, at.to_v6());
  if (at.is_loopback()) return "loopback";
  if (at.is_v4()) return at.to_string();
  auto bytes = at.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  return boost::asio::ip::address_v6(bytes).to_string() + "/64";
}

void Crowd::is_known(Id id) {
  if (const auto at = all_.find(id); at != all_.end()) at->second.known = true;
}

void Crowd::is_busy(Id id, bool busy) {
  if (const auto at = all_.find(id); at != all_.end()) at->second.busy = busy, at->second.used = ++clock_;
}

}  // namespace ridge::net
