// ranks: starts one agent per rank, and shows what they report.
#include <fmt/format.h>

#include "app/commands.hpp"
#include "grader/base/error.hpp"
#include "grader/worker/ranks.hpp"

namespace ridge {

namespace {
constexpr double kSeconds = 60;
}

int command_ranks(int ranks) {
  const RanksRun run = run_ranks(ranks, kSeconds);
  for (const agent::Report& r : run.reports)
    fmt::print(
        "  rank {:>3} of {}   {:<16} agent {:<8} worker {:<8} {:<16} round trip {:5.1f} us   barrier {:5.1f} us{}\n",
        r.rank, r.size, r.host, r.agent_pid, r.worker_pid, r.device, r.round_trip_s * 1e6, r.barrier_s * 1e6,
        r.ok == 1 ? "" : std::string("   FAILED: ") + r.error);
  if (!run.ok())
    throw Error(Exit::environment,
                fmt::format("{} of {} ranks reported; mpirun ended with exit code {}:\n{}", run.reports.size(), ranks,
                            run.mpi.exit_code, run.mpi.output),
                "run `ridge doctor`; check that mpirun works by itself");
  fmt::print("  {} ranks ready\n", ranks);
  return 0;
}

}  // namespace ridge
