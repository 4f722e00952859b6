#include "learn/findings/message_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learn/findings/spans.hpp"

namespace ridge::loop {

namespace {
using Item = Timeline::Item;
}  // namespace

Exposed longest_exposed(const std::vector<Timeline>& ranks, std::string_view only) {
  Exposed found;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const Item& i : ranks[r].items) {
      if (!only.empty() && i.kind != only) continue;
      const double free = i.end - i.start - covered(of_kind(ranks[r], i.kind, true), i.start, i.end);
      if (free > found.seconds) found = {&i, &ranks[r], r, free};
    }
  return found;
}

std::set<std::string> idle_kernels(const TaskResult& task) {
  std::set<std::string> names;
  for (const KernelCount& k : task.kernels) {
    const bool counted = std::any_of(k.counters.begin(), k.counters.end(), [](const auto& c) {
      return c.first.find("_mem_global_") != std::string::npos && c.second > 0;
    });
    const bool listed =
        std::any_of(k.lines.begin(), k.lines.end(), [](const LineCount& l) { return l.op.starts_with("global"); });
    if (!counted && !listed) names.insert(k.kernel);
  }
  return names;
}

std::string idle_in_words(const std::vector<Timeline>& ranks, const std::set<std::string>& idle) {
  std::string told;
  for (const std::string& name : idle)
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      double seconds = 0;
      const Item* one = nullptr;
      for (const Item& i : ranks[r].items)
        if (i.kind == "kernel" && i.name == name) seconds += i.end - i.start, one = &i;
      if (one == nullptr) continue;
      told += fmt::format(
          ". Kernel {} in {} runs for {:.1f} us{}, and neither loads from global memory nor stores to it: it does "
          "nothing for the task",
          name, in_stream(ranks[r], one->stream), seconds * 1e6, ranks.size() > 1 ? fmt::format(" on rank {}", r) : "");
      break;
    }
  return told;
}

std::vector<Timeline> without(std::vector<Timeline> ranks, const std::set<std::string>& idle) {
  for (Timeline& t : ranks)
    for (Item& i : t.items)
      if (i.kind == "kernel" && idle.contains(i.name)) i.kind = "idle", i.end = i.start;
  return ranks;
}

RankFinding equal_messages(const Exposed& longest, bool of_ranks) {
  constexpr double kEqual = 0.9;
  const Timeline& t = *longest.on;
  const Spans others = of_kind(t, "exchange", true);
  std::vector<const Item*> all;
  for (const Item& i : t.items)
    if (i.kind == "exchange" && i.name == longest.item->name && i.stream == longest.item->stream &&
        i.end - i.start - covered(others, i.start, i.end) > kEqual * longest.seconds)
      all.push_back(&i);
  if (all.size() < 2) return {};
  RankFinding f{
      fmt::format("{} calls of {} in {} are exposed{}: ", all.size(), longest.item->name,
                  in_stream(t, longest.item->stream), of_ranks ? fmt::format(", on rank {}", longest.rank) : ""),
      {}};
  bool none = true;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double until = k + 1 < all.size() ? all[k + 1]->start : t.seconds;
    int behind = 0;
    double seconds = 0;
    for (const Item& i : t.items)
      if (i.kind == "kernel" && i.stream == all[k]->stream && i.start > all[k]->end - kMoment && i.start < until)
        ++behind, seconds += i.end - i.start;
    none = none && behind == 0;
    f.fact += fmt::format("{}from {:.1f} to {:.1f} us, with {} kernel{} ({:.1f} us) behind it in that stream",
                          k == 0               ? ""
                          : k + 1 < all.size() ? ", "
                                               : ", and ",
                          all[k]->start * 1e6, all[k]->end * 1e6, behind, behind == 1 ? "" : "s", seconds * 1e6);
  }
  if (none) return {};
  f.advice =
      "Kernels wait for a message that is in their stream, whether they read what it brings or not. Which of these "
      "messages is read by none of the kernels behind it? Begin that one in a stream of its own as soon as its data is "
      "ready: it travels while they compute.";
  return f;
}

RankFinding many_latencies(const Exposed& longest) {
  constexpr double kHardly = 0.1, kMuch = 0.2;  // of the calls' time; of all
  // A send or a receive waits for its peer, and a schedule says which of them there are.
  if (longest.item->name == "ncclSend" || longest.item->name == "ncclRecv") return {};
  double seconds = 0, of_bytes = 0;
  int calls = 0;
  for (const Item& i : longest.on->items) {
    if (i.kind != "exchange" || i.name != longest.item->name) continue;
    seconds += i.end - i.start, ++calls;
    for (const Item::Part& p : i.parts) {
      if (p.seconds_per_byte <= 0) return {};
      if (p.sent != 0) of_bytes += static_cast<double>(p.bytes) * p.seconds_per_byte;
    }
  }
  if (!longest.item->name.starts_with("nccl") || calls < 3 || of_bytes > kHardly * seconds ||
      seconds < kMuch * longest.on->seconds)
    return {};
  return {
      fmt::format("{} calls of {} take {:.1f} us on rank {}, and their bytes alone would take {:.2g} us: the rest is "
                  "latency, which each call pays",
                  calls, longest.item->name, seconds * 1e6, longest.rank, of_bytes * 1e6),
      "Which numbers are ready at the same time? Side by side they can travel in one call."};
}

}  // namespace ridge::loop
