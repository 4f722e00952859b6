// Agents on the nodes of a job, through the site's launcher (srun, mpirun): one per rank, trusted, each of which keeps
// workers for the judge in sandboxes of its own node. Messages between ranks pass through the agents to the judge's
// switchboard. On the emulator; ranks on GPUs are workers of one node.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "grader/sandbox/rank_host.hpp"
#include "grader/worker/agent_wire.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

class Agents {
 public:
  // Starts `count` agents by the launcher's words ("srun --mpi=pmix"). Throws Error(Exit::environment) where they don't
  // come.
  Agents(int count, const std::string& launcher);
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  int count() const { return static_cast<int>(controls_.size()); }
  std::string nodes() const;  // "8 agents on 2 nodes: n1, n2"
  // A worker of that rank, with its agent. `messages`: the worker's end of a stream to a switchboard; stays the
  // caller's.
  std::shared_ptr<RankHost> start(const fs::path& program, Role role, int rank, int ranks, int messages);
  // Throws Error(Exit::environment) where an agent was lost: no submission is to blame for that.
  void require_all();

 private:
  friend class RemoteWorker;
  int accept_one(wire::Opening& opening, double seconds);
  int wait_for(wire::Line line, std::uint64_t worker);  // a connection of a worker that was asked for
  void lost(int agent);
  void launch(const std::vector<std::string>& argv);
  bool launcher_ended() const;
  void stop();

  int listener_ = -1;
  std::uint64_t token_[2] = {}, next_worker_ = 1;
  std::vector<int> controls_;  // by rank
  std::vector<std::string> hosts_;
  std::vector<bool> has_program_;
  std::map<std::pair<wire::Line, std::uint64_t>, int> waiting_;  // connections that came before they were asked for
  TemporaryDir scratch_{"agents"};                               // what the launcher prints
  pid_t launcher_ = -1;
  std::mutex mutex_;
  std::string lost_;
};

}  // namespace ridge
