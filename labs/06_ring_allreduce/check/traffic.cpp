#include "traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "terms.hpp"

namespace ridge::lab::ring_allreduce {

namespace {

// Whether nodes of that many ranks would explain all messages.
bool fits_nodes(std::span<const Message> messages, int per_node) {
  return std::all_of(messages.begin(), messages.end(), [&](const Message& m) {
    return m.from / per_node == m.to / per_node || m.from % per_node == m.to % per_node;
  });
}

}  // namespace

std::string times_text(std::uint64_t sent, std::uint64_t enough) {
  if (enough == 0) return "more than";
  const double times = static_cast<double>(sent) / static_cast<double>(enough);
  return times == 2 ? "twice" : fmt::format("{:.3g} times", times);
}

std::string idle_adapters_text(std::span<const Message> messages, int ranks, int per_node, std::uint64_t even_share) {
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(ranks));
  for (const Message& m : messages)
    if (m.from / per_node != m.to / per_node) sent[static_cast<std::size_t>(m.from)] += m.bytes;
  std::vector<int> busy, idle;
  std::uint64_t least = UINT64_MAX, most = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::uint64_t bytes = sent[static_cast<std::size_t>(r)];
    (bytes == 0 ? idle : busy).push_back(r);
    if (bytes > 0) least = std::min(least, bytes), most = std::max(most, bytes);
  }
  if (idle.empty() || busy.empty()) return {};
  const std::string bytes = least == most ? fmt::format("{} bytes{}", most, busy.size() > 1 ? " each" : "")
                                          : fmt::format("{} to {} bytes", least, most);
  return fmt::format(
      ". Between the nodes {} {} {}, and {} none: each rank of a node can send its own part, and an even share is {} "
      "bytes",
      ranks_text(busy), busy.size() == 1 ? "sends" : "send", bytes, ranks_text(idle), even_share);
}

std::string wrong_place_text(std::span<const Message> messages, int ranks, int per_node) {
  const auto wrong = std::find_if(messages.begin(), messages.end(), [&](const Message& m) {
    return m.from / per_node != m.to / per_node && m.from % per_node != m.to % per_node;
  });
  if (wrong == messages.end()) return {};
  const int first = wrong->from / per_node * per_node;
  std::vector<int> node;
  for (int r = first; r < first + per_node; ++r) node.push_back(r);
  std::string text = fmt::format(
      "rank {} sends to rank {}, of another node and another place in it: between nodes a rank talks to those of its "
      "own place only, and the node of rank {} has {}",
      wrong->from, wrong->to, wrong->from, ranks_text(node));
  for (int other = 2; other < ranks; ++other)
    if (ranks % other == 0 && other != per_node && fits_nodes(messages, other))
      return text +
             fmt::format(". All messages of this call fit nodes of {} ranks, and `per_node` is {}", other, per_node);
  return text;
}

std::string both_from_one_text(std::span<const Message> messages, int ranks, std::int64_t elements) {
  if (ranks != 2 || elements != 1 || messages.size() != 2 || messages[0].from != messages[1].from) return {};
  const int from = messages[0].from;
  return fmt::format(
      "; rank {} sends the one element twice, and rank {} sends nothing: after the first message rank {} has the sum, "
      "so the all-gather must begin there, with the chunk that is complete on each rank",
      from, 1 - from, 1 - from);
}

}  // namespace ridge::lab::ring_allreduce
