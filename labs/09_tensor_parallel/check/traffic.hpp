// What the messages of a task may be.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "checks/check.hpp"

namespace ridge::lab::tensor_parallel {

// The bytes that collectives send as rings, all ranks together.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  std::string calls;
  explicit Traffic(int ranks) : p_(static_cast<std::uint64_t>(ranks)) {}
  Traffic& all_reduce(std::uint64_t elements, const char* name) {
    return add(2 * (p_ - 1) * p_, 2 * (p_ - 1) * elements, name);
  }
  // Of `elements` in all; so is a reduce-scatter.
  Traffic& all_gather(std::uint64_t elements, const char* name = "") {
    return add((p_ - 1) * p_, (p_ - 1) * elements, name);
  }
  // Where the contract names the calls, fewer transfers mean that other calls were made.
  enum class Fewer { allowed, refused };
  Verdict compare(std::span<const Message> sent, Fewer fewer = Fewer::allowed) const {
    std::uint64_t bytes_sent = 0;
    struct Load {
      std::uint64_t out = 0, in = 0;
    };
    std::map<int, Load> of_rank;
    for (const Message& m : sent) {
      bytes_sent += m.bytes;
      of_rank[m.from].out += m.bytes, of_rank[m.to].in += m.bytes;
    }
    const std::string of_rank_0 = sent.empty() ? "" : ". Rank 0 sends, in this order: " + in_order(sent, 0);
    auto refused = [](std::string why) { return Verdict{false, std::move(why), {}, "traffic"}; };
    if (bytes_sent > bytes)
      return refused(fmt::format("all ranks together send {} bytes, where {} would do: {}", bytes_sent, bytes,
                                 calls.empty() ? "none" : calls) +
                     of_rank_0);
    if (sent.size() > messages)
      return refused(
          fmt::format("all ranks together send {} messages, where {} would do: {} by rings. One collective too many?",
                      sent.size(), messages, calls.empty() ? "none" : calls) +
          of_rank_0);
    if (fewer == Fewer::refused && (sent.size() < messages || bytes_sent < bytes))
      return refused(
          fmt::format(
              "all ranks together send {} messages with {} bytes, and the task's collectives are {} with {}: {}",
              sent.size(), bytes_sent, messages, bytes, calls) +
          of_rank_0);
    // A ring divides its bytes evenly, up to an element of each transfer.
    const std::uint64_t most = bytes / p_ + messages / p_ * sizeof(float);
    std::string sends, receives;
    bool uneven = false;
    for (int rank = 0; rank < static_cast<int>(p_); ++rank) {
      const Load& load = of_rank[rank];
      const char* between = sends.empty() ? "" : ", ";
      sends += fmt::format("{}{}", between, load.out), receives += fmt::format("{}{}", between, load.in);
      uneven = uneven || std::max(load.out, load.in) > most;
    }
    if (uneven)
      return refused(
          fmt::format("ranks 0 to {} send {} bytes and receive {}; as rings, the collectives of this task send and "
                      "receive {} bytes on each rank ({}). Is the sum made on one rank, and sent out from there?",
                      p_ - 1, sends, receives, bytes / p_, calls));
    return {};
  }

 private:
  // "2 messages of 24 bytes, 1 of 40": those of one rank.
  static std::string in_order(std::span<const Message> sent, int rank) {
    constexpr int kMostGroups = 8;
    std::string text;
    std::uint64_t bytes = 0;
    int count = 0, groups = 0;
    auto end_group = [&] {
      if (count == 0 || ++groups > kMostGroups + 1) return;
      text += groups > kMostGroups ? ", ..."
              : text.empty()       ? fmt::format("{} message{} of {} bytes", count, count == 1 ? "" : "s", bytes)
                                   : fmt::format(", {} of {}", count, bytes);
    };
    for (const Message& m : sent) {
      if (m.from != rank) continue;
      if (m.bytes != bytes) end_group(), count = 0, bytes = m.bytes;
      ++count;
    }
    end_group();
    return text;
  }
  Traffic& add(std::uint64_t count, std::uint64_t elements, const char* name) {
    messages += count, bytes += elements * sizeof(float);
    calls += (calls.empty() || *name == 0 ? "" : ", ") + std::string(name);
    return *this;
  }
  std::uint64_t p_;
};

}  // namespace ridge::lab::tensor_parallel
