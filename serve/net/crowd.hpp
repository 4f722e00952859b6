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
  // `most`: connections in all. `strangers`: those of one source that have shown no right to be here; 0: as many.
  // `others`: such connections of this machine's other users together.
  Crowd(std::size_t most, std::size_t strangers, std::size_t others = 20)
      : most_(most), strangers_(strangers), others_(others) {}

  using Id = std::uint64_t;
  // Adds a client. Returns one that has to go for it: the oldest stranger of the source that has the most of them, an idle one
  // first; where all are known, the one that has been idle longest; where none is idle, the new one. A client of another user
  // of this machine displaces none but clients of other users.
  std::optional<Id> add(Id id, const std::string& source, bool other_user = false);
  void remove(Id id) { all_.erase(id); }
  // The client has shown its right to be here.
  void is_known(Id id);
  // A request of the client is being answered, or its stream is open.
  void is_busy(Id id, bool busy);
  std::size_t size() const { return all_.size(); }

 private:
  struct Client {
    std::string source;
    bool other_user = false, known = false, busy = false;
    std::uint64_t used = 0;  // when the client was last active, as a count
  };
  template <class Is>
  std::optional<Id> oldest_stranger(const Is& is) const;
  template <class Is>
  std::size_t strangers(const Is& is) const;
  std::optional<Id> of_the_most(Id id) const;

  std::size_t most_, strangers_, others_;
  std::uint64_t clock_ = 0;
  std::map<Id, Client> all_;  // by age
};

// What counts as one source of connections: a user of this machine may take any address of 127/8, and a host any of its
// IPv6 network.
std::string source_of(const std::string& address);

}  // namespace ridge::net
