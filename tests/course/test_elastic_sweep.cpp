// Lab 16: the reference solution of `elastic` with a death in every change of the disk that a run makes, those of new
// generations included.
#include <cstring>
#include <iostream>
#include <map>

#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "labs/16_resilience/elastic_call.hpp"
#include "solutions/16_resilience/elastic.cu"
#include "support/catch.hpp"

namespace vfs = ridge::files;

namespace {

constexpr std::uint64_t kSeed = 4711;

// The state behind the last step, without failures.
std::uint64_t right_state() {
  std::uint64_t state = 0;
  for (long long step = 0; step < kSteps; ++step) {
    std::uint64_t sum = 0;
    for (int b = 0; b < kMicroBatches; ++b) sum += gradient_of(kSeed, step, b);
    state = updated(state, sum);
  }
  return state;
}

struct Run {
  std::vector<long long> numbers;
  std::vector<vfs::Change> changes;
  std::size_t deaths = 0;
};

// number: of the scenario, which says after how many seconds a rank starts again: 3: 30, 4: 3, 5: never.
Run play(int number, const vfs::Faults& faults) {
  vfs::FileSystem owner(vfs::Storage{}, faults);
  owner.on_mark([](vfs::FileSystem& files, std::int64_t what, std::int64_t) -> std::int64_t {
    if (what == kStartsAgain) files.restart();
    return 0;
  });
  const Generation first = sealed(Generation{0, 0, (1 << kWorkers) - 1});
  vfs::Bytes bytes(sizeof first);
  std::memcpy(bytes.data(), &first, sizeof first);
  owner.put(generation_path(1), bytes);
  owner.reset_counts();
  vfs::use(&owner);
  Run run;
  run.numbers = Play(number, kSeed).run();
  vfs::use(nullptr);
  run.changes = owner.changes();
  run.deaths = owner.died().size();
  return run;
}

// All that live have come to the end, in one generation, with the state that no failure changes.
bool is_right(const Run& run) {
  bool right = run.numbers[0] == 0;
  for (int r = 0; r < kWorkers; ++r) {
    const long long* n = run.numbers.data() + 5 + 4 * r;
    right = right && (n[0] == 0 || (n[1] == kSteps && n[2] == static_cast<long long>(right_state()) && n[3] == 1));
  }
  return right && run.numbers[3] <= kSteps + kEvery * (run.numbers[2] - 1);
}

// Kills in each change of the run with `faults`, and prints how many recovered, by the kind of the change.
void kill_in_each_change(int number, const vfs::Faults& faults, const char* what) {
  const Run whole = play(number, faults);
  REQUIRE(is_right(whole));
  std::map<std::string, std::pair<int, int>> table;  // killed, recovered
  for (std::size_t n = 1; n <= whole.changes.size(); ++n)
    for (vfs::Crash crash : {vfs::Crash::process, vfs::Crash::node}) {
      vfs::Faults f = faults;
      f.deaths.push_back({.rank = -1, .at_change = n});
      f.crash = crash;
      f.seed = 100 + n;
      const Run run = play(number, f);
      auto& [killed, recovered] = table[name_of(whole.changes[n - 1].kind)];
      INFO(what << ", scenario " << number << ", change " << n << " of " << whole.changes.size());
      CHECK(run.deaths >= 1);
      CHECK(is_right(run));
      ++killed, recovered += is_right(run) ? 1 : 0;
    }
  for (const auto& [kind, row] : table)
    std::cout << what << ", " << kind << ": " << row.first << " killed, " << row.second << " recovered\n";
}

}  // namespace

TEST_CASE("a death in any change of a run without other failures is survived") {
  for (int number : {3, 4, 5}) kill_in_each_change(number, {}, "no other failure");
}

TEST_CASE("a second death, in any change behind that of a rank, is survived") {
  vfs::Faults f;
  f.deaths.push_back({.rank = 3, .at_step = 9 + 100 * 3});
  for (int number : {3, 4, 5}) kill_in_each_change(number, f, "rank 3 dies in step 9");
}
