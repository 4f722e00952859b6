// What the timelines of several ranks say about the order of their work.
#include "learn/findings/rank_findings.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

constexpr double kMicro = 1e-6;

// A launch inside a range, at `start` us for `seconds` us.
void kernel(Timeline& t, const std::string& range, double start, double seconds) {
  const double issued = static_cast<double>(t.calls.size()) * 1e-9;
  t.calls.push_back({range + "/k", 0, issued});
  Timeline::Item i;
  i.name = "k", i.kind = "kernel", i.stream = 1;
  i.issued = issued, i.start = start * kMicro, i.end = (start + seconds) * kMicro;
  t.items.push_back(i);
}

Timeline::Item& message(Timeline& t, const char* name, int stream, double start, double seconds) {
  Timeline::Item i;
  i.name = name, i.kind = "exchange", i.stream = stream;
  i.start = start * kMicro, i.end = (start + seconds) * kMicro;
  return t.items.emplace_back(i);
}

}  // namespace

TEST_CASE("rank findings: one rank at a time") {
  std::vector<Timeline> ranks(2);
  kernel(ranks[0], "forward 0", 0, 10);
  kernel(ranks[1], "forward 0", 12, 10);
  kernel(ranks[1], "backward 0", 22, 20);
  kernel(ranks[0], "backward 0", 45, 20);
  kernel(ranks[0], "forward 1", 65, 10);
  CHECK(one_rank_at_a_time(ranks).fact ==
        "No two ranks compute at the same time: rank 0 begins `forward 1` only after `backward 0`, at 65.0 us");
  kernel(ranks[1], "forward 1", 66, 10);
  CHECK(one_rank_at_a_time(ranks).fact.empty());
  CHECK(one_rank_at_a_time({ranks[0]}).fact.empty());
}

TEST_CASE("rank findings: the step that comes late, and what its transfer waited for") {
  std::vector<Timeline> ranks(2);
  for (int k = 0; k < 3; ++k) {
    const std::string name = "forward " + std::to_string(k);
    const double at = 10.0 * k, late = k == 2 ? 9 : 0;
    kernel(ranks[0], name, at, 10);
    message(ranks[0], "ncclSend", 2, at + 10, 2 + late).parts = {{1, 1, 64, 5, static_cast<std::uint64_t>(k)}};
    if (k == 2) message(ranks[1], "ncclSend", 3, 30, 9);
    Timeline::Item& receive = message(ranks[1], "ncclRecv", 2, at + 10 + late, 2);
    receive.parts = {{0, 0, 64, 5, static_cast<std::uint64_t>(k)}};
    if (k == 2) receive.waits = {ranks[1].items.size() - 2};
    kernel(ranks[1], name, at + 12 + late, 8);
  }
  const RankFinding f = late_step(ranks);
  CHECK(
      f.fact ==
      "Rank 1 is idle from 30.0 us and begins `forward 2` at 41.0 us, though rank 0 has ended it at 30.0 us. The "
      "transfer begins when rank 1 comes to its receive, at 39.0 us, behind ncclSend in stream 3 that ends at 39.0 us");
  CHECK(f.advice.find("Does this receive wait for a buffer") == 0);
}

TEST_CASE("rank findings: no step is late where all wait for a transfer alone") {
  std::vector<Timeline> ranks(2);
  kernel(ranks[0], "forward 0", 0, 10), kernel(ranks[1], "forward 0", 12, 10);
  kernel(ranks[0], "forward 1", 10, 15), kernel(ranks[1], "forward 1", 27, 10);
  CHECK(late_step(ranks).fact.empty());
}

TEST_CASE("rank findings: a message behind another one that waits") {
  std::vector<Timeline> ranks(1);
  Timeline& t = ranks[0];
  message(t, "ncclAllGather", 2, 0, 10);
  kernel(t, "product", 10, 50);
  message(t, "ncclReduceScatter", 2, 60, 10).waits = {1};
  message(t, "ncclAllGather", 2, 70, 10);
  const RankFinding f = message_behind_another(ranks);
  CHECK(f.fact ==
        "ncclAllGather that begins at 70.0 us on rank 0 could begin at 0.0 us, beside kernels, but it stands behind "
        "ncclReduceScatter in stream 2, which begins at 60.0 us");
  t.items.back().waits = {1};
  CHECK(message_behind_another(ranks).fact.empty());
}

TEST_CASE("rank findings: a message behind another of its kind and its wait tells nothing of its own data") {
  std::vector<Timeline> ranks(1);
  Timeline& t = ranks[0];
  kernel(t, "backward", 0, 50);
  kernel(t, "backward", 50, 50);
  message(t, "ncclAllReduce", 2, 100, 10).waits = {1};
  message(t, "ncclAllReduce", 2, 110, 10);
  CHECK(message_behind_another(ranks).fact.empty());
  const RankFinding f = messages_behind_all_kernels(ranks);
  CHECK(
      f.fact ==
      "All 2 calls of ncclAllReduce on rank 0 begin behind its last kernel, which ends at 100.0 us: the first of them "
      "at 100.0 us");
  CHECK(f.advice.find("Which kernels does the first of these calls wait for?") == 0);
  // With a wait of its own it is known, and the two calls are told apart.
  t.items.back().waits = {0};
  CHECK(message_behind_another(ranks).advice.find("call the ncclAllReduce that could begin at 50.0 us before the "
                                                  "ncclAllReduce that begins at 100.0 us") != std::string::npos);
  kernel(t, "update", 105, 20);
  CHECK(messages_behind_all_kernels(ranks).fact.empty());
}

TEST_CASE("rank findings: one rank at a time, beside kernels of no step") {
  std::vector<Timeline> ranks(2);
  kernel(ranks[0], "forward 0", 0, 10);
  kernel(ranks[1], "forward 0", 12, 10);
  kernel(ranks[1], "backward 0", 22, 20);
  kernel(ranks[0], "backward 0", 45, 20);
  for (Timeline& t : ranks) {
    Timeline::Item busy;
    busy.name = "busy_kernel", busy.kind = "kernel", busy.stream = 2, busy.issued = 1;
    busy.end = 60 * kMicro;
    t.items.push_back(busy);
  }
  CHECK(one_rank_at_a_time(ranks).fact ==
        "No two ranks are in a step at the same time; busy_kernel (60.0 us in stream 2 of rank 0) belongs to no step");
}
