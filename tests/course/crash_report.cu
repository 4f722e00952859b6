// Kills the reference solutions of lab 16's `save`, `async_save` and `elastic` once in each change of the disk that a run makes,
// with a crash of the process and with one of the node, and lets the run go on. Prints a table in Markdown:
// benchmarks/resilience/crashes.md, which test_crash_report.cpp compares.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "labs/16_resilience/async_save.hpp"
#include "labs/16_resilience/check/elastic_files.hpp"
#include "labs/16_resilience/elastic_call.hpp"
#include "runtime/files/local.hpp"
#include "runtime/files/model/file_system.hpp"
#include "runtime/files/ranks.hpp"

namespace {

namespace vfs = ridge::files;
namespace lab16 = ridge::lab::resilience;
constexpr int kRanks = 4, kSaves = 4, kWords = 3072;
constexpr long long kBytes = 9001;
constexpr std::uint64_t kSeed = 4711;

// A run that goes on from what is on the disk. True where it came to its end, with the right state.
using Run = std::function<bool(vfs::FileSystem&)>;

// Saves that had ended before the change that kills: so many are on the disk behind the crash, or one more.
long long ended_before = 0;
bool is_old_or_new(long long saves, bool torn) { return !torn && (saves == ended_before || saves == ended_before + 1); }

// ---- save: four ranks, four saves.

char byte_of(long long step, long long i) { return static_cast<char>(i * 31 + step * 7 + i / 251); }
std::string state_of(long long step) {
  std::string s(kBytes, '\0');
  for (long long i = 0; i < kBytes; ++i) s[static_cast<std::size_t>(i)] = byte_of(step, i);
  return s;
}
// The step of the state that a reader finds, 0 where there is none, or -1 where it is no whole one.
long long saved_step() {
  std::vector<std::vector<long long>> whole;
  for (int r = 0; r < kRanks; ++r) whole.push_back(whole_steps(r, kRanks));
  const long long step = agreed_step(whole);
  if (step < 0) return 0;
  std::string s(kBytes, '\0');
  for (int r = 0; r < kRanks; ++r) {
    const long long begin = part_begin(kBytes, r, kRanks);
    if (!read_part(step, r, kRanks, s.data() + begin, kBytes - begin)) return -1;
  }
  return s == state_of(step) ? step : -1;
}
bool save_run(vfs::FileSystem&) {
  for (long long step = saved_step() + 1; step <= kSaves; ++step) {
    const std::string state = state_of(step);
    std::vector<Part> parts(kRanks);
    for (int r = 0; r < kRanks; ++r)
      if (!files::lives_through(
              r, [&] { parts[static_cast<std::size_t>(r)] = write_part(state.data(), kBytes, step, r, kRanks); }))
        return false;
    if (!files::lives_through(0, [&] { commit(step, parts); })) return false;
  }
  return saved_step() == kSaves;
}

// ---- async_save: six steps, a save behind every second one. It has no function that resumes: what is left is looked at.

long long async_step() {
  const int fd = files::open(kState);
  if (fd < 0) return 0;
  Head head{};
  std::vector<std::uint32_t> words(kWords);
  const bool read = files::pread(fd, &head, sizeof head, 0) == sizeof head &&
                    files::pread(fd, words.data(), 4 * kWords, kHeadBytes) == 4 * kWords;
  files::close(fd);
  if (!read || head.words != kWords || head.hash != hash_of(words.data(), 4 * kWords)) return -1;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    std::uint32_t w = i;
    for (std::uint32_t step = 1; step <= head.step; ++step) w = w * 1664525u + step * 2654435761u + 1013904223u;
    if (w != words[i]) return -1;
  }
  return head.step;
}
bool async_run(vfs::FileSystem& owner) {
  static char* staging = [] {
    char* p = nullptr;
    cudaMallocHost(&p, 2 * kHeadBytes + 4 * kWords);
    return p + (kHeadBytes - reinterpret_cast<std::uintptr_t>(p) % kHeadBytes) % kHeadBytes;
  }();
  static std::uint32_t* state = [] {
    std::uint32_t* p = nullptr;
    cudaMalloc(&p, 4 * kWords);
    return p;
  }();
  std::vector<std::uint32_t> words(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) words[i] = i;
  cudaMemcpy(state, words.data(), 4 * kWords, cudaMemcpyHostToDevice);
  const bool lived = files::lives_through(0, [&] { train_and_save({6, 2, kWords}, state, staging, nullptr); });
  cudaDeviceSynchronize();
  if (lived) return async_step() == 6;
  owner.restart();
  return is_old_or_new(async_step() / 2, async_step() < 0);
}

struct Row {
  int killed = 0, recovered = 0;
};

// All changes of one run without a death; then a run for each of them, which dies there. Where `again`, the run is started
// again, without a death.
std::map<std::string, Row> sweep(const Run& run, bool again, bool torn_rename) {
  std::vector<vfs::Change> changes;
  {
    vfs::FileSystem owner(vfs::Storage{});
    owner.put_folder(kFolder), owner.reset_counts(), vfs::use(&owner);
    if (!run(owner)) std::printf("the run without a death is wrong\n");
    changes = owner.changes();
  }
  std::map<std::string, Row> rows;
  for (std::size_t n = 1; n <= changes.size(); ++n)
    for (vfs::Crash crash : {vfs::Crash::process, vfs::Crash::node}) {
      vfs::Faults f;
      f.deaths = {{.rank = -1, .at_change = n}};
      f.crash = crash, f.torn_rename = torn_rename, f.seed = 1000 + n;
      vfs::FileSystem owner(vfs::Storage{}, f);
      owner.put_folder(kFolder), owner.reset_counts(), vfs::use(&owner);
      ended_before = 0;
      for (std::size_t i = 1; i + 1 < n; ++i)  // the folder's fsync that follows the rename ends a save
        ended_before +=
            changes[i].kind == vfs::Change::Kind::sync_folder && changes[i - 1].kind == vfs::Change::Kind::rename;
      bool good = run(owner);
      if (again) owner.restart(), good = is_old_or_new(saved_step(), saved_step() < 0) && run(owner);
      good = good && owner.died().size() == 1;
      Row& row = rows[name_of(changes[n - 1].kind)];
      ++row.killed, row.recovered += good ? 1 : 0;
    }
  vfs::use(nullptr);
  return rows;
}

// elastic: the judge's own scenario, in which a killed rank starts again after 3 s.
std::unique_ptr<lab16::ElasticFiles> played(const lab16::ElasticPlan& plan) {
  auto judge = std::make_unique<lab16::ElasticFiles>(
      kSeed, 1, [&plan](const lab16::ElasticFiles&, int s) { return s == 0 ? std::optional(plan) : std::nullopt; });
  vfs::use(judge.get());
  for (long long s = 0; note(kScenario, s) == 1; ++s) Play().run();
  vfs::use(nullptr);
  return judge;
}
std::map<std::string, Row> elastic_sweep() {
  lab16::ElasticPlan plan{.what = "", .restart = 3};
  const auto whole = played(plan);
  if (!whole->wrong().empty()) std::printf("the run without a death is wrong: %s\n", whole->wrong().c_str());
  const std::vector<vfs::Change> changes = whole->changes();
  std::map<std::string, Row> rows;
  for (std::size_t n = 1; n <= changes.size(); ++n)
    for (vfs::Crash crash : {vfs::Crash::process, vfs::Crash::node}) {
      plan.in_changes = {n}, plan.crash = crash;
      const auto run = played(plan);
      Row& row = rows[vfs::name_of(changes[n - 1].kind)];
      ++row.killed, row.recovered += run->notes_as_expected() && run->wrong().empty() ? 1 : 0;
    }
  return rows;
}

void print(const char* task, const std::map<std::string, Row>& rows) {
  Row all;
  for (const auto& [kind, row] : rows) {
    std::printf("| `%s` | %s | %d | %d |\n", task, kind.c_str(), row.killed, row.recovered);
    all.killed += row.killed, all.recovered += row.recovered;
  }
  std::printf("| `%s` | **all** | **%d** | **%d** |\n", task, all.killed, all.recovered);
}

}  // namespace

int main() {
  const Run save = save_run, async = async_run;
  std::puts(R"(# A crash in every change of the disk

Made by the test `course.crash_report`; do not edit.

The reference solutions of lab 16 on virtual files. A run is killed in one change of the disk, once for each change that a run
without a death makes, with a crash of the process and with one of the node. Recovered: behind the crash a reader finds the last save
that had ended, or the one under way, as a whole. `save` is then started again, and comes to its last step. `elastic` goes on by
itself, and ends with the state of a run without deaths on all ranks.

| task | change | killed | recovered |
|---|---|--:|--:|)");
  print("save", sweep(save, true, false));
  print("async_save", sweep(async, false, false));
  print("elastic", elastic_sweep());
  std::puts(R"(
The same on a file system whose rename is not atomic: a crash in it leaves nothing under the new name. The first save of each run
replaces nothing. Of the others a crash of the process loses all; one of the node may undo the rename, and so bring the old file back.

| task | change | killed | recovered |
|---|---|--:|--:|)");
  for (const auto& [name, rows] :
       {std::pair{"save", sweep(save, true, true)}, std::pair{"async_save", sweep(async, false, true)}})
    for (const auto& [kind, row] : rows)
      if (kind == "rename") std::printf("| `%s` | %s | %d | %d |\n", name, kind.c_str(), row.killed, row.recovered);
  return 0;
}
