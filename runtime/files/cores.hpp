// Processor cores that decode what was read. The emulator's host code takes no virtual time by itself: work that does
// is given to a core.
#pragma once
#include "files.hpp"

namespace files {

// Work on `bytes` bytes begins on core `core`, which is below storage().cores, behind that core's earlier work, and
// takes bytes / core_bandwidth seconds. Returns a ticket for wait_for_core(), or 0 where there is no such core.
inline unsigned long long start_on_core(int core, std::size_t bytes, long long tag = 0) {
  detail::Request r;
  r.op = detail::Op::compute;
  r.core = core;
  r.bytes = bytes;
  r.offset = tag;
  const detail::Reply reply = detail::call(r);
  return reply.result < 0 ? 0 : reply.ticket;
}
inline void wait_for_core(unsigned long long ticket) { ridge_files_wait(ticket); }

}  // namespace files
