// The clients that are connected at one time, and which of them has to go where there are too many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ridge::net {

class Crowd {
 public:
  // `most`: connections in all. `strangers`: those of one address that have shown no right to be here; 0: as many.
  Crowd(std::size_t most, std::size_t strangers) : most_(most), strangers_(strangers) {}

  using Id = std::uint64_t;
  // Adds a client. Returns one that has to go for it: the oldest stranger of the address that has the most of them, an idle one first;
  // where all are known, the one that has been idle longest; where none is idle, the new one.
  std::optional<Id> add(Id id, const std::string& address);
  void remove(Id id) { all_.erase(id); }
  // The client has shown its right to be here.
  void is_known(Id id);
  // A request of the client is being answered, or its stream is open.
  void is_busy(Id id, bool busy);
  std::size_t size() const { return all_.size(); }

 private:
  struct Client {
    std::string address;
    bool known = false, busy = false;
    std::uint64_t used = 0;  // when the client was last active, as a count
  };
  std::map<std::string, std::size_t> strangers_by_address() const;
  std::optional<Id> oldest_stranger(const std::string& address) const;

  std::size_t most_, strangers_;
  std::uint64_t clock_ = 0;
  std::map<Id, Client> all_;  // by age
};

}  // namespace ridge::net
