// A message between processes: between two nodes, or through the switchboard of a judge.
#pragma once
#include <cstdint>
#include <type_traits>

#include "message.hpp"

namespace ridge::collectives {

struct Frame {                     // then `bytes` of data
  std::uint64_t from = 0, to = 0;  // processes; judged rank r is process r + 1
  std::uint64_t key = 0;           // the communicator's key
  std::int32_t rank = 0;           // the receiver's rank there
  std::uint32_t reserved = 0;
  Slot slot;
  Call call;
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<Frame> && sizeof(Frame) == 96);

constexpr std::uint64_t kLargestFrame = std::uint64_t{1} << 34;

}  // namespace ridge::collectives
