// Several ranks of one program in one sandbox. They share its loopback interface, its temporary files and its devices,
// which NCCL needs, and nothing with anybody else. Each has a socket to the judge and an output of its own.
#pragma once
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "grader/sandbox/rank_host.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

class RankSandbox : public RankHost {
 public:
  // Starts `ranks` times `argv` with "rank R of N" behind. Throws Error(Exit::environment) where that can't be done.
  RankSandbox(Sandbox sandbox, const std::vector<std::string>& argv, int ranks);
  ~RankSandbox() override;  // ends all
  RankSandbox(const RankSandbox&) = delete;
  RankSandbox& operator=(const RankSandbox&) = delete;

  int take_socket(int rank) override;
  int take_output(int rank) override;
  pid_t pid() const override { return pid_; }
  int ranks() const { return static_cast<int>(sockets_.size()); }
  bool over_memory() const override { return run_->over_memory(); }
  double waited_seconds() const override { return run_->waited_seconds(); }
  std::optional<int> ended(int rank, double seconds) override;
  void end() override;  // all ranks

 private:
  std::mutex mutex_;
  std::unique_ptr<SandboxRun> run_;
  std::vector<int> sockets_, outputs_;
  std::vector<std::optional<int>> statuses_;
  int control_ = -1;
  pid_t pid_ = -1;
};

}  // namespace ridge
