// Messages between ranks.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::collectives {

enum class What : std::uint32_t {
  send,
  receive,
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  split,
  mpi_send,  // `count` bytes with the tag `op`
  mpi_receive,
};
const char* name_of(What what);  // "ncclAllReduce"

// A call as its peers must have made it too.
struct Call {
  What what = What::send;
  std::uint32_t type = 0, op = 0;
  std::int32_t root = -1;   // the peer of a send or receive
  std::uint64_t count = 0;  // the call's argument
  std::uint64_t pc = 0;     // the call's offset in the sender's program
};
bool same(const Call& a, const Call& b);  // the place of the call does not matter
std::string text_of(const Call& call);    // "ncclAllReduce of 12 ncclFloat32 (ncclSum)"

enum class Kind : std::uint32_t {
  data,        // the n-th send to this peer
  taken,       // the receive of the n-th send has begun
  collective,  // the n-th collective, a step of its schedule
  split,
  time,  // a judged rank's virtual time at which its part begins; step 0: of a send, 1: of a receive, 2: of a collective
  // Between processes only:
  hello,
  state,
};

// Each is awaited by exactly one call.
struct Slot {
  std::uint32_t from = 0;
  Kind kind = Kind::data;
  std::uint64_t number = 0;
  std::uint32_t step = 0;
  auto operator<=>(const Slot&) const = default;
};

struct Message {
  Slot slot;
  Call call;
  std::vector<char> data;
};

}  // namespace ridge::collectives
