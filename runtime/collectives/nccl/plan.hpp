// A call's work: its buffers, and its algorithm's schedule of messages on one rank.
#pragma once
#include <cstddef>
#include <vector>

#include "communicator.hpp"

namespace ridge::collectives {

struct Planned {
  Call call;
  const void* from = nullptr;
  void* to = nullptr;
  bool in_group = false;  // between ncclGroupStart and ncclGroupEnd, perhaps as the only call there
};

// One step sends a part of the work buffer, then waits for a part. Offsets and lengths in elements.
struct Step {
  int to = -1, from = -1;  // ranks; -1: none
  std::size_t send_at = 0, send_count = 0;
  std::size_t receive_at = 0, receive_count = 0;
  bool reduce = false;  // adds the received part to the buffer
};

// The number of elements that a rank reads from `from` and writes to `to`.
std::size_t elements_read(const Call& call, int rank, int ranks);
std::size_t elements_written(const Call& call, int rank, int ranks);

// The ring algorithms for all-reduce, all-gather and reduce-scatter; chains for broadcast and reduce, from rank to
// rank; the rest directly. Elements of the work buffer: `work`; its input goes to `input_at`, its output comes from
// `output_at`.
struct Schedule {
  std::vector<Step> steps;
  std::size_t work = 0, input_at = 0, output_at = 0;
};
Schedule schedule_of(const Call& call, int rank, int ranks);

}  // namespace ridge::collectives
