// Running code that nobody trusts: what it may see, use and take. Layers, each of which holds by itself:
//   namespaces (bubblewrap)  no network, no other processes, a file system of its own
//   system calls (seccomp)   a list of those allowed
//   Landlock                 files by right
//   limits                   rlimits, and a cgroup for processes and memory where one can be made
// Where a layer is missing on a machine it is left out, and sandbox_report() says so.
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

// What this machine can do, found by trying, once in a program's life.
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
  int last_kept = 0;             // descriptor; 0: 2 for a builder, else 3
  int ranks = 0;                 // so many of the program, which reach each other by sockets (rank_sandbox.hpp); 0: one
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
// The same for ranks of one program on a GPU each: all GPUs that this program sees, NCCL's settings, and the address at
// which ranks meet.
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
  // In the parent: waits until the program was started. Empty, or why it was not.
  std::string started(pid_t child);
  int failed_stage() const;  // sandbox::Stage of a start that failed, -1 where bwrap did not get there
  // Once the child was reaped: waits for what is left of the sandbox. Empty, or what survived.
  std::string finish();
  // True where it holds more memory than it may, and no control group ends it for that. To be asked now and then.
  bool over_memory() const;
  std::uint64_t memory() const;  // bytes that it holds now
  // Seconds that one of its threads has waited for a core since it began, while others had them all.
  double waited_seconds() const;
  // A status as waitpid gives it, as if the program had been the child.
  int own_status(int status) const;

 private:
  struct State;
  std::unique_ptr<State> s_;
};

// What ever survived a sandbox of this program: nothing, or a defect.
std::string sandbox_leftovers();

}  // namespace ridge
