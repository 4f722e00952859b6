// Processor cores that decode what was read. The emulator's host code takes no virtual time by itself: work that does is
// given to a core.
#pragma once
#include <deque>

#include "files.hpp"

namespace files {

// Work in flight on `cores` cores, which is storage().cores at most. A core does one piece after another.
class Cores {
 public:
  // Work on `bytes` bytes begins on core `core`, behind that core's earlier work, and takes bytes / core_bandwidth
  // seconds. Returns a ticket for wait(), or 0 where there is no such core.
  unsigned long long start(int core, std::size_t bytes, long long tag = 0) {
    detail::Request r;
    r.op = detail::Op::compute;
    r.core = core;
    r.bytes = bytes;
    r.offset = tag;
    detail::Reply reply;
    {
      detail::Turn turn;
      r.rank = detail::rank();
      ridge_files_call(&r, &reply);
    }
    if (reply.died != 0) detail::died();
    return reply.result < 0 ? 0 : reply.ticket;
  }
  static void wait(unsigned long long ticket) { ridge_files_wait(ticket); }
};

}  // namespace files
