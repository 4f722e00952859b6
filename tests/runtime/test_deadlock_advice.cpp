// What is advised where sends and receives wait for each other: by the calls that wait.
#include "collectives/nccl/advice.hpp"
#include "support/catch.hpp"

using namespace ridge::collectives;

namespace {

Waiting call(int rank, What what, int peer, bool in_group) {
  Waiting w;
  w.rank = rank, w.waits = true, w.in_group = in_group;
  w.call.what = what, w.call.root = peer;
  return w;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("deadlock: a group is advised where none of the calls is in one") {
  const std::string text = message_advice({call(0, What::send, 1, false), call(1, What::send, 0, false)});
  CHECK(has(text, "belong between ncclGroupStart and ncclGroupEnd, or in streams of their own"));
}

TEST_CASE("deadlock: calls in groups that do not fit together") {
  const std::string text =
      message_advice({call(0, What::receive, 1, true), call(1, What::send, 2, true), call(2, What::receive, 0, true)});
  CHECK(has(text,
            "in groups already, and no two of them fit together: rank 0 receives from rank 1, but rank 1 sends to "
            "rank 2"));
  CHECK_FALSE(has(text, "ncclGroupStart"));
  // Two that fit: then the order is what counts.
  const std::string other = message_advice({call(0, What::receive, 1, true), call(1, What::send, 0, true)});
  CHECK_FALSE(has(other, "no two of them fit"));
}

TEST_CASE("deadlock: groups of sends alone") {
  std::vector<Waiting> all = {call(0, What::send, 1, true), call(1, What::send, 0, true)};
  for (Waiting& w : all) w.call.count = 5;
  CHECK(message_advice(all) == "All calls that wait are sends: each of them needs an ncclRecv of its peer.\n");
  all[1].call.count = 0;
  CHECK(has(message_advice(all), "also where it has 0 elements"));
  for (Waiting& w : all) w.call.what = What::receive;
  CHECK(has(message_advice(all), "All calls that wait are receives: each of them needs an ncclSend"));
}

TEST_CASE("deadlock: a call that the peer has not made") {
  Waiting idle;
  idle.rank = 1, idle.idle = true;
  CHECK(has(message_advice({call(0, What::receive, 1, false), idle}),
            "Rank 0 waits for an ncclSend of rank 1, and rank 1 has not called it"));
  CHECK(has(message_advice({call(0, What::send, 1, true), idle}), "Rank 0 waits for an ncclRecv of rank 1"));
  idle.idle = false;  // it has called more, which stands in its stream
  CHECK(has(message_advice({call(0, What::send, 1, false), idle}), "ncclGroupStart"));
}
