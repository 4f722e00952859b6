// What the messages of a call tell, in words.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "checks/check.hpp"

namespace ridge::lab::ring_allreduce {

// "twice", "1.5 times"
std::string times_text(std::uint64_t sent, std::uint64_t enough);

// Of messages between nodes of `per_node` ranks: " Between the nodes ranks 0 and 2 send 4208 bytes each, and ranks 1 and
// 3 none", where that is so; else empty.
std::string idle_adapters_text(std::span<const Message> messages, int ranks, int per_node, std::uint64_t even_share);

// The first message to another place of another node; empty where there is none.
std::string wrong_place_text(std::span<const Message> messages, int ranks, int per_node);

// Of a call with one element on two ranks: one rank has sent both messages. Else empty.
std::string both_from_one_text(std::span<const Message> messages, int ranks, std::int64_t elements);

}  // namespace ridge::lab::ring_allreduce
