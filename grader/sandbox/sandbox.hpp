// Runs untrusted code and limits what it can see, call and consume. The layers do not depend on each other:
//   namespaces (bubblewrap)  no network, no other processes, a file system of its own
//   system calls (seccomp)   only those on a list
//   Landlock                 rights to read, write and run, by path
//   limits                   rlimits, and a cgroup for processes and memory where one can be made
// A layer that the machine lacks is left out, and sandbox_report() says so.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge {

struct SandboxLayer {
  std::string name;
  bool on = false;
  bool required = true;  // a result without it is unsandboxed
  std::string reason;    // where it is off: why, and what to do
};

// The layers that this machine has. The first call tries them out; later calls return the same list.
const std::vector<SandboxLayer>& sandbox_report();
bool sandbox_complete(const std::vector<SandboxLayer>& layers);

struct SandboxParts;  // sandbox_layers.hpp

struct Sandbox {
  bool builder = false;              // a compiler, which starts processes; else a worker: threads only
  std::vector<fs::path> read_only;   // shown at their own paths, with /usr and its like
  std::vector<fs::path> writable;    // folders
  std::vector<std::string> devices;  // nodes of the granted GPU
  fs::path dir = "/";                // working folder
  std::vector<std::string> environment;
  bool fixed_addresses = false;  // no address randomisation, so that two runs agree
  int last_kept = 0;             // the highest descriptor that stays open; 0: 2 for a builder, else 3
  int ranks = 0;                 // processes of the program, joined by sockets (rank_sandbox.hpp); 0: a single one
  // Limits.
  std::uint64_t tmpfs_bytes = 64 << 20;
  std::uint64_t file_bytes = 64 << 20;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  unsigned open_files = 256;
  unsigned tasks = 256;  // processes and threads
  unsigned cpu_seconds = 4 * 3600;
};

// A worker: its program, and the libraries that it needs. `gpu`: with the nodes of the GPU that the judge uses.
Sandbox worker_sandbox(const fs::path& program, bool gpu);
// The same for several ranks of one program, one GPU each. It adds the device files of all GPUs, the caller's
// CUDA_VISIBLE_DEVICES and NCCL_* variables, and the address at which the ranks meet.
Sandbox ranks_sandbox(const fs::path& program);
// A compiler or another tool that reads a submission: `dir` (empty: none) is writable, `show` can be read, and so can
// Ridge's runtime, its libraries and the toolchain.
Sandbox builder_sandbox(const fs::path& dir, const std::vector<fs::path>& show = {});

// One run in a sandbox. Made before fork; exec() is called in the child, the rest in the parent.
class SandboxRun {
 public:
  SandboxRun(const Sandbox& sandbox, const std::vector<std::string>& argv);
  SandboxRun(const Sandbox& sandbox, const std::vector<std::string>& argv, const SandboxParts& have);
  ~SandboxRun();  // ends what is left of it
  SandboxRun(const SandboxRun&) = delete;
  SandboxRun& operator=(const SandboxRun&) = delete;

  // In the child, after fork: keeps descriptors 0..last_kept, gives up the others and becomes the program.
  [[noreturn]] void exec(int last_kept);
  // In the parent: waits until the program has started. Returns the reason if it did not, else an empty string.
  std::string started(pid_t child);
  int failed_stage() const;  // the sandbox::Stage that failed; -1: none, or bwrap itself failed
  // After the child was reaped: waits for the sandbox's other processes. Returns what survived, or an empty string.
  std::string finish();
  // True if the run holds more than memory_bytes and no cgroup enforces that limit. The caller polls this.
  bool over_memory() const;
  std::uint64_t memory() const;  // bytes that it holds now
  // The longest time, in seconds, that one of its threads was runnable but waited for a core (schedstat).
  double waited_seconds() const;
  // The program's own status from bwrap's (both as waitpid gives them): bwrap turns signal n into exit code 128 + n.
  int own_status(int status) const;

 private:
  struct State;
  std::unique_ptr<State> s_;
};

// Everything that outlived a sandbox of this process; an empty string unless something went wrong.
std::string sandbox_leftovers();

}  // namespace ridge
