// N agents through mpirun, each with a worker of its own; their reports come to the judge over TCP.
#pragma once
#include <string>
#include <vector>

#include "grader/sandbox/process.hpp"
#include "grader/worker/agent_protocol.hpp"

namespace ridge {

struct RanksRun {
  int wanted = 0;
  std::vector<agent::Report> reports;  // by rank; of those that came
  ProcessResult mpi;                   // what became of mpirun

  bool ok() const;  // all came, and each with a worker that answers
};

// Why no ranks can be started here; empty where they can.
std::string why_no_ranks();

// Throws Error(Exit::environment) where they can't be started.
RanksRun run_ranks(int ranks, double seconds);

}  // namespace ridge
