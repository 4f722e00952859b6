// ridge ranks starts one agent per rank and shows what the agents report.
#include "grader/worker/ranks.hpp"

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"

namespace ridge {

namespace {

constexpr double kRanksSeconds = 60;

int start_ranks(int ranks) {
  const RanksRun run = run_ranks(ranks, kRanksSeconds);
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

}  // namespace

void add_ranks(Commands& ridge) {
  CLI::App* command =
      ridge.add("ranks", "Start one agent per rank through MPI and let each start a worker", "  ridge ranks -n 4");
  auto ranks = std::make_shared<int>(2);
  command->add_option("-n,--np", *ranks, "Number of ranks")->capture_default_str()->check(CLI::Range(1, 1024));
  ridge.set_action(command, [ranks] { return start_ranks(*ranks); });
}

}  // namespace ridge
