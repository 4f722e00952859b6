// Processor cores that decode what was read. On the emulator they are the judge's: it takes the encoded bytes, and
// gives the decoded ones when the core's work is waited for. On a real machine they are threads.
#pragma once
#include "files.hpp"

namespace files {

struct CoreWork {
  unsigned long long ticket = 0;  // 0: there is no such core
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
};

// Work on the `bytes` bytes at `from` begins on core `core`, which is below storage().cores, behind that core's earlier
// work. In virtual time it takes bytes / core_bandwidth seconds. Both buffers are the core's until wait_for_core(): it
// reads the first half of the time, and again at the end. bytes: a multiple of 4, at most 64 MiB.
//   number  what the work is on, as the lab says
//   here    the same work as a function, for a real machine
inline CoreWork start_on_core(int core, const void* from, void* to, std::size_t bytes, long long number,
                              wire::Work here) {
  if (bytes > wire::kMostBytes) return {};
  if (ridge_files_in_place()) return {ridge_files_work(core, here, from, to, bytes, number), from, to, bytes};
  detail::Request r;
  r.op = detail::Op::compute;
  r.core = core;
  r.bytes = bytes;
  r.offset = number;
  const detail::Reply reply = detail::call(r, from, [](const detail::Reply&) {});
  return {reply.result < 0 ? 0 : reply.ticket, from, to, bytes};
}

// Waits for it. The result is at `to` then. Returns its bytes, or -EINVAL where no such work was started.
inline ssize_t wait_for_core(const CoreWork& work) {
  if (work.ticket == 0) return -EINVAL;
  if (ridge_files_in_place()) {
    ridge_files_wait(work.ticket);
    return static_cast<ssize_t>(work.bytes);
  }
  detail::Request r;
  r.op = detail::Op::complete;
  r.ticket = work.ticket;
  r.bytes = work.bytes;
  return detail::call(r, work.from,
                      [&](const detail::Reply& got) {
                        if (got.result > 0)
                          std::memcpy(work.to, ridge_files_window(), static_cast<std::size_t>(got.result));
                      })
      .result;
}

}  // namespace files
