// Timing of several ranks: a whole session, with the emulator in place of the GPUs.
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "grader/base/clock.hpp"
#include "grader/build/build.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/measure/timing.hpp"
#include "late_device.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;

namespace {

constexpr int kRanks = 3;
const double kSlowed = TimedOptions().slowed_baseline;

// Every rank copies its own data.
class CopyOfRanks : public lab::TaskCheck {
 public:
  std::string id() const override { return "copy"; }
  std::vector<lab::Case> cases(const lab::Request&) const override { return {}; }
  lab::Shape shape(const lab::Case& c) const override {
    auto bytes = static_cast<std::size_t>(c.size[0]) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const lab::Case& c, std::uint64_t seed, lab::Buffers in) const override {
    lab::fill_normal(lab::floats(in[0]), seed);
    filled[static_cast<std::size_t>(c.rank)] += 1;
    shared[static_cast<std::size_t>(c.rank)].push_back(c.shared_seed);
  }
  lab::Verdict verify(const lab::Case& c, lab::ConstBuffers in, lab::ConstBuffers out) const override {
    ++verified;
    CHECK(static_cast<int>(in.size()) == c.ranks);
    CHECK(static_cast<int>(out.size()) == c.ranks);
    for (std::size_t r = 0; r < out.size(); ++r) {
      auto x = lab::floats(in[r]);
      lab::Verdict v = lab::compare_exact(
          lab::floats(out[r]), [&](std::size_t i) { return x[i]; }, [&](std::size_t) { return "out"; });
      if (!v.ok) return v;
      if (r > 0) CHECK(lab::floats(in[0])[0] != x[0]);  // data of its own
    }
    return {};
  }
  lab::Work work(const lab::Case& c) const override {
    auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4};
  }
  mutable int filled[kRanks] = {};
  mutable std::vector<std::uint64_t> shared[kRanks];
  mutable int verified = 0;
};

struct Fixture {
  test::Folder home;
  Lab lab = find_lab("01");
  CopyOfRanks check;
  std::vector<std::unique_ptr<Device>> devices;
  fs::path solution;

  Fixture() {
    setenv("RIDGE_ROOT", test::repository().c_str(), 1);
    for (int r = 0; r < kRanks; ++r) devices.push_back(make_cpu_device());
    solution = build("solution", {});
  }
  fs::path build(const std::string& name, const std::string& copy) {
    Submission s{root_dir() / "solutions/01_coalescing", {}, {}};
    if (!copy.empty()) {
      const std::string file = home / (name + ".cu");
      std::ofstream(file) << "#include \"coalescing.hpp\"\n" << copy;
      s.overrides = {file};
      s.override_names = {"copy.cu"};
    }
    return build_worker(lab, s, lab::Backend::cpu, fs::path(home / name)).program;
  }
  TimedRun run(const fs::path& submission, double limit = 20) {
    TimedOptions o;
    o.stop = {3, 4, 60, 0.01};
    o.limit_seconds = limit;
    o.seed = 42;
    o.slowed_baseline = 1e9;  // the emulator's times mean nothing, and a busy machine is no submission's fault
    o.turn_seconds = o.least_seconds = 1e-6;
    o.explain = [](const Reply& r) { return "fate " + std::to_string(static_cast<int>(r.fate)); };
    lab::Case c{"n 5003", {5003}, true};
    c.ranks = kRanks;
    std::vector<Device*> all;
    for (const auto& d : devices) all.push_back(d.get());
    auto starter = [](const fs::path& program) {
      return [program] { return std::make_unique<SubmissionWorkers>(program, kRanks, lab::Backend::cuda, false); };
    };
    return time_case(all, check, c, {starter(submission), starter(solution), {}}, o);
  }
};

}  // namespace

TEST_CASE("ranks are timed together: new inputs for each, all outputs of all verified", "[ranks]") {
  Fixture f;
  TimedRun run = f.run(f.solution);
  INFO(run.message);
  REQUIRE(run.ok);
  const Timing& t = run.timing;
  REQUIRE(t.submission_s.size() >= 3);
  CHECK(t.baseline_s.size() == t.submission_s.size());
  int calls = 0;
  for (int n : t.turn_calls) calls += n;
  CHECK(f.check.verified == calls);
  for (int filled : f.check.filled) CHECK(filled == calls + 1);
  // One for all ranks, but a new one each time.
  for (const auto& shared : f.check.shared) CHECK(shared == f.check.shared[0]);
  const std::set<std::uint64_t> different(f.check.shared[0].begin(), f.check.shared[0].end());
  CHECK(different.size() == f.check.shared[0].size());
  CHECK(t.median > 0);
  CHECK(t.low <= t.median);

  SECTION("an output of one rank that is written late") {
    f.devices[1] = std::make_unique<test::LateDevice>();
    TimedRun r = f.run(f.solution);
    CHECK_FALSE(r.ok);
    CHECK(r.check == "correct");
    CHECK(r.message.find("rank 1: outputs were still being written") != std::string::npos);
  }
  SECTION("a wrong answer") {
    TimedRun r =
        f.run(f.build("wrong", "void copy(const float*, float*, std::size_t, void*, std::size_t, cudaStream_t) {}\n"));
    CHECK(r.check == "correct");
    CHECK(r.message.find("turn 1") != std::string::npos);
  }
  SECTION("a crash") {
    TimedRun r = f.run(f.build("crash",
                               "void copy(const float*, float*, std::size_t, void*, std::size_t, cudaStream_t) { "
                               "*const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1; }\n"));
    CHECK(r.check == "run");
    CHECK(r.message.find(" of 3: fate 1") != std::string::npos);
  }
  SECTION("a program that hangs is ended with all its ranks") {
    const fs::path hangs = f.build("hangs",
                                   "void copy(const float*, float*, std::size_t, void*, std::size_t, cudaStream_t) { "
                                   "for (volatile int i = 0;; i = i + 1) {} }\n");
    const double start = now();
    TimedRun r = f.run(hangs, 1);
    CHECK(r.check == "run");
    CHECK(r.message.find("fate 2") != std::string::npos);
    CHECK(sandbox_leftovers().empty());
    CHECK(now() - start < 60);
  }
}

TEST_CASE("a baseline that is slow beside the submission is told") {
  Timing t;
  t.baseline_s = {1.0, 1.05, 1.02};
  CHECK_NOTHROW(timed::judge_baseline(t, {0.99, 1.0}, kSlowed));
  CHECK(t.disturbed.empty());
  t.baseline_s = {1.5, 1.6, 1.55};
  CHECK_THROWS_AS(timed::judge_baseline(t, {0.99, 1.0}, kSlowed), timed::Failed);
  t.repeated = 1;  // something else was seen to disturb: said, not held against it
  CHECK_NOTHROW(timed::judge_baseline(t, {0.99, 1.0}, kSlowed));
  CHECK(t.disturbed.find("1.50 times as long as alone") != std::string::npos);
}

namespace {

// A session whose turns take what the script says.
struct Scripted {
  Timing timing;
  std::vector<std::vector<double>> turns;  // the vendor's seconds a call, by session
  double alone_again = 1.0;
  int taken = 0, stopped = 0, started = 0;

  void run() {
    timed::turns_beside(timing, {0.99, 1.0},
                        {[&] { timing.baseline_s = turns.at(static_cast<std::size_t>(taken++)); }, [&] { ++stopped; },
                         [&] { ++started; },
                         [&](std::vector<double>& s) {
                           s = {alone_again, alone_again};
                         }},
                        kSlowed);
  }
};

}  // namespace

TEST_CASE("a neighbour's load is not held against the submission") {
  Scripted s;
  SECTION("nothing is slow: one session") {
    s.turns = {{1.0, 1.0, 1.0}};
    s.run();
    CHECK(s.taken == 1);
    CHECK(s.stopped == 0);
    CHECK(s.timing.disturbed.empty());
  }
  SECTION("the machine itself became slower: said, and the turns count") {
    s.turns = {{1.5, 1.5, 1.5}};
    s.alone_again = 1.5;
    s.run();
    CHECK(s.stopped == 1);
    CHECK(s.started == 0);
    CHECK(s.timing.baseline_s.size() == 3);
    CHECK(s.timing.disturbed.find("the machine became slower") != std::string::npos);
  }
  SECTION("it passes: the turns are taken again") {
    s.turns = {{1.5, 1.5, 1.5}, {1.0, 1.01, 1.0}};
    s.run();
    CHECK(s.taken == 2);
    CHECK(s.started == 1);
    CHECK(s.timing.baseline_s[1] == 1.01);
    CHECK(s.timing.disturbed.empty());
  }
  SECTION("what disturbed the first turns excuses nothing in the second") {
    s.turns = {{1.5, 1.5, 1.5}, {1.4, 1.4, 1.4}};
    s.timing.repeated = 1;
    CHECK_THROWS_AS(s.run(), timed::Failed);
  }
  SECTION("it comes back with the submission") {
    s.turns = {{1.5, 1.5, 1.5}, {1.4, 1.4, 1.4}};
    CHECK_THROWS_AS(s.run(), timed::Failed);
    CHECK(s.taken == 2);
  }
}
