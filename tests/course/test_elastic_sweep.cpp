// Lab 16: the reference solution of `elastic` with a death in every change of the disk that a run makes, those of new
// generations included.
#include <iostream>
#include <map>
#include <memory>

#include "files/local.hpp"
#include "labs/16_resilience/check/elastic_files.hpp"
#include "labs/16_resilience/elastic_call.hpp"
#include "solutions/16_resilience/elastic.cu"
#include "support/catch.hpp"

namespace vfs = ridge::files;
using ridge::lab::resilience::ElasticFiles;
using ridge::lab::resilience::ElasticPlan;

namespace {

// Plays one scenario.
std::unique_ptr<ElasticFiles> play(const ElasticPlan& plan) {
  auto judge = std::make_unique<ElasticFiles>(
      4711, 1, [&plan](const ElasticFiles&, int s) { return s == 0 ? std::optional(plan) : std::nullopt; });
  vfs::use(judge.get());
  long long scenarios = 0;
  for (; note(kScenario, scenarios) == 1; ++scenarios) Play().run();
  vfs::use(nullptr);
  REQUIRE(scenarios == 1);
  REQUIRE(judge->notes_as_expected());
  return judge;
}

// Kills in each change of the run that `plan` is, and prints how many recovered, by the kind of the change.
void kill_in_each_change(ElasticPlan plan, const char* what, const std::vector<int>& restarts) {
  const auto whole = play(plan);
  INFO(whole->wrong());
  REQUIRE(whole->wrong().empty());
  const std::vector<vfs::Change> changes = whole->changes();
  REQUIRE(changes.size() >= kSteps / kEvery * 5);
  std::map<std::string, std::pair<int, int>> table;  // killed, recovered
  for (std::size_t n = 1; n <= changes.size(); ++n)
    for (vfs::Crash crash : {vfs::Crash::process, vfs::Crash::node})
      for (int restart : restarts) {
        plan.in_changes = {n}, plan.crash = crash, plan.restart = restart;
        const auto run = play(plan);
        auto& [killed, recovered] = table[vfs::name_of(changes[n - 1].kind)];
        INFO(what << ", change " << n << " of " << changes.size() << ", back after " << restart
                  << " s: " << run->wrong());
        CHECK(run->wrong().empty());
        ++killed, recovered += run->wrong().empty() ? 1 : 0;
      }
  for (const auto& [kind, row] : table)
    std::cout << what << ", " << kind << ": " << row.first << " killed, " << row.second << " recovered\n";
}

}  // namespace

TEST_CASE("a death in any change of a run without other failures is survived") {
  kill_in_each_change({.what = "nobody else dies"}, "no other failure", {30, 3, -1});
}

TEST_CASE("a second death, in any change after that of a rank, is survived") {
  for (int restart : {30, 3, -1}) {
    const ElasticPlan plan{.what = "rank 3 dies in step 9", .restart = restart, .at_steps = {{3, 9}}};
    kill_in_each_change(plan, "rank 3 dies in step 9", {restart});
  }
}

TEST_CASE("a silent rank, and a death in any change, are survived") {
  kill_in_each_change({.what = "rank 2 sends no heartbeat", .paused = 2}, "rank 2 sends no heartbeat", {30, 3, -1});
}
