// Threads of a real machine: those that read and write for asynchronous requests, and those that stand for cores.
#pragma once
#include <cstdint>
#include <functional>

namespace ridge::files {

using Job = std::function<std::int64_t()>;

// Runs `job` beside others, at most kIoThreads of them at once. Returns its ticket.
constexpr int kIoThreads = 32;
std::uint64_t start_request(Job job);
// Runs `job` on the thread of core `core`, behind its earlier jobs. Returns its ticket, or 0 where no such core is.
std::uint64_t start_on_thread_of(int core, Job job);
// Waits for the job's end, and returns its result; -EINVAL where there is no such job. A ticket is good for one wait.
std::int64_t result_of(std::uint64_t ticket);

// Cores of this process.
int cores_here();

}  // namespace ridge::files
