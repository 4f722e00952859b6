#include "grader/worker/link_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/machine/device.hpp"
#include "grader/machine/link_rates.hpp"

namespace ridge {

namespace {

constexpr double kSeconds = 9.5;                      // in all
constexpr double kCopySeconds = 5, kCopyLimit = 6.5;  // of which the GPUs may have
constexpr const char* kRanks = "ranks on this machine";

Facts gpu_links(const Topology& topology) {
  LinkRun run;
  std::error_code ec;
  const fs::path self = fs::read_symlink("/proc/self/exe", ec);
  if (std::string why; !cuda_available(why)) {
    run.skipped = "no GPU: " + why;
  } else {
    ProcessLimits limits;
    limits.seconds = kCopyLimit;
    const ProcessResult r =
        run_process({self.string(), "doctor", "--measure-links", std::to_string(kCopySeconds)}, {}, limits);
    run = parse_link_run(r.output, !r.timed_out);
  }
  return link_facts(run, topology);
}

}  // namespace

Fact rank_fact(const RanksRun& run) {
  const std::string by_hand = fmt::format("`./ridge ranks -n {}`", run.wanted);
  if (run.mpi.timed_out)
    return {Mark::note, kRanks,
            fmt::format("{} of {} answered within {:.0f} s: a busy machine, or an mpirun that hangs; {} waits longer",
                        run.reports.size(), run.wanted, run.mpi.seconds, by_hand)};
  if (!run.ok()) {
    std::string why = fmt::format("mpirun ended with exit code {}", run.mpi.exit_code);
    for (const agent::Report& r : run.reports)
      if (r.ok != 1) why = fmt::format("rank {}: {}", r.rank, r.error[0] != 0 ? r.error : "its worker does not answer");
    return {Mark::no, kRanks,
            fmt::format("{} of {} reported; {}; {} shows all", run.reports.size(), run.wanted, why, by_hand)};
  }
  auto range = [&](double agent::Report::*member) {
    const auto [low, high] =
        std::minmax_element(run.reports.begin(), run.reports.end(),
                            [&](const agent::Report& a, const agent::Report& b) { return a.*member < b.*member; });
    return fmt::format("{:.1f} to {:.1f} us", (*low).*member * 1e6, (*high).*member * 1e6);
  };
  return {Mark::yes, kRanks,
          fmt::format("{}: round trip to the worker {}, barrier {}", run.wanted, range(&agent::Report::round_trip_s),
                      range(&agent::Report::barrier_s))};
}

Facts check_links(const Topology& topology) {
  const double end = now() + kSeconds;
  Facts facts = gpu_links(topology);
  if (std::string why = why_no_ranks(); !why.empty()) {
    facts.push_back({Mark::none, kRanks, "skipped: " + why + "; `./ridge ranks` installs Open MPI"});
    return facts;
  }
  const int ranks = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 4);
  try {
    facts.push_back(rank_fact(run_ranks(ranks, end - now())));
  } catch (const Error& e) {
    facts.push_back({Mark::no, kRanks, std::string(e.what()) + "; " + e.advice});
  }
  return facts;
}

}  // namespace ridge
