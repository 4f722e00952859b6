// Whoever keeps a worker for the judge: a sandbox of several ranks here, or an agent on another node.
#pragma once
#include <sys/types.h>

#include <optional>

namespace ridge {

class RankHost {
 public:
  virtual ~RankHost() = default;
  virtual int take_socket(int rank) = 0;  // the judge's end; once, then the caller's
  virtual int take_output(int rank) = 0;
  virtual pid_t pid() const = 0;
  virtual bool over_memory() const = 0;
  virtual double waited_seconds() const { return 0; }  // for a core, see SandboxRun
  // The status of a rank, as waitpid gives it, once it has ended by itself; waits up to `seconds`.
  virtual std::optional<int> ended(int rank, double seconds) = 0;
  // Ends what it keeps. Safe to call from several threads, and again.
  virtual void end() = 0;
};

}  // namespace ridge
