// What timelines say of messages that nothing hides.
#include "learn/findings/message_findings.hpp"
#include "support/catch.hpp"

using namespace ridge;
using namespace ridge::loop;

namespace {

constexpr double kUs = 1e-6;

Timeline::Item item(const char* name, const char* kind, int stream, double start, double end) {
  Timeline::Item i;
  i.name = name, i.kind = kind, i.stream = stream, i.start = start * kUs, i.end = end * kUs;
  return i;
}

// Two all-reduces of one length, with kernels behind each.
Timeline two_all_reduces(int stream) {
  Timeline t;
  t.seconds = 150 * kUs;
  t.items = {item("product", "kernel", 1, 0, 10),
             item("ncclAllReduce", "exchange", stream, 10, 50),
             item("product", "kernel", 1, 50, 70),
             item("product", "kernel", 1, 70, 80),
             item("ncclAllReduce", "exchange", stream, 80, 120),
             item("product", "kernel", 1, 120, 150)};
  return t;
}

}  // namespace

TEST_CASE("message findings: equally long all-reduces are all named, with the kernels behind each") {
  std::vector<Timeline> ranks = {two_all_reduces(1)};
  const RankFinding f = equal_messages(longest_exposed(ranks, "exchange"), true);
  CHECK(f.fact ==
        "2 calls of ncclAllReduce in stream 1 are exposed, on rank 0: from 10.0 to 50.0 us, with 2 kernels (30.0 us) "
        "behind it in that stream, and from 80.0 to 120.0 us, with 1 kernel (30.0 us) behind it in that stream");
  CHECK(f.advice.find("read by none of the kernels behind it?") != std::string::npos);
  // In a stream of their own no kernel is behind them.
  ranks = {two_all_reduces(2)};
  CHECK(equal_messages(longest_exposed(ranks, "exchange"), true).fact.empty());
  // One that is much shorter is not the other's equal.
  ranks = {two_all_reduces(1)};
  ranks[0].items[1].start = 40 * kUs;
  CHECK(equal_messages(longest_exposed(ranks, "exchange"), true).fact.empty());
}

TEST_CASE("message findings: a kernel that accesses no global memory hides nothing") {
  TaskResult task;
  LineCount load{"a.cu", 3, "global_ld"}, local{"a.cu", 9, "shared_ld"};
  task.kernels = {KernelCount{"product", {}, {}, 1, {}, {load}}, KernelCount{"wait", {}, {}, 1, {}, {local}}};
  Timeline t;
  t.items = {item("product", "kernel", 1, 0, 10), item("ncclAllReduce", "exchange", 1, 10, 50),
             item("wait", "kernel", 2, 10, 50)};
  const std::vector<Timeline> ranks = {t, t};
  CHECK(longest_exposed(ranks, "exchange").item == nullptr);
  const std::set<std::string> idle = idle_kernels(task);
  CHECK(idle == std::set<std::string>{"wait"});
  CHECK(
      idle_in_words(ranks, idle) ==
      ". Kernel wait in stream 2 runs for 40.0 us on rank 0, and neither loads from global memory nor stores to it: it "
      "does nothing for the task");
  task.kernels[1].counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = 4;
  CHECK(idle_kernels(task).empty());
  const std::vector<Timeline> needed = without(ranks, idle);
  CHECK(longest_exposed(needed, "exchange").seconds > 39 * kUs);
}

TEST_CASE("message findings: collectives whose bytes take no time are told by their latency") {
  Timeline t;
  t.seconds = 60 * kUs;
  for (int k = 0; k < 3; ++k) {
    t.items.push_back(item("ncclAllReduce", "exchange", 1, 20 * k, 20 * k + 10));
    t.items.back().parts = {{1, 1, 400, 5, 0, 5e-6, 1e-11}, {1, 0, 400, 5, 0, 5e-6, 1e-11}};
  }
  std::vector<Timeline> ranks = {t};
  CHECK(many_latencies(longest_exposed(ranks, "")).fact ==
        "3 calls of ncclAllReduce take 30.0 us on rank 0, and their bytes alone would take 0.012 us: the rest is "
        "latency, which each call pays");
  // Large ones, two, and links of unknown speed.
  for (auto& i : ranks[0].items) i.parts[0].bytes = 400'000;
  CHECK(many_latencies(longest_exposed(ranks, "")).fact.empty());
  ranks = {t};
  ranks[0].items.pop_back();
  CHECK(many_latencies(longest_exposed(ranks, "")).fact.empty());
  ranks = {t};
  for (auto& i : ranks[0].items) i.parts[0].seconds_per_byte = 0;
  CHECK(many_latencies(longest_exposed(ranks, "")).fact.empty());
}
