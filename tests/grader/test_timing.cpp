// Performance by time: statistics, plans, floors, calibrations, disturbances, and a whole session on the emulator's device
// with real worker processes. Nothing here asserts how long something takes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "checks/compare.hpp"
#include "grader/base/error.hpp"
#include "grader/build/build.hpp"
#include "grader/machine/device_kernel.hpp"
#include "grader/machine/gpu_leftovers.hpp"
#include "grader/machine/host_buffer.hpp"
#include "grader/machine/nvml.hpp"
#include "grader/measure/calibrate.hpp"
#include "grader/measure/roofline_floor.hpp"
#include "grader/measure/timed_turns.hpp"
#include "grader/measure/timing.hpp"
#include "late_device.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;

namespace {

// n values of mean 1 with this relative deviation, the same in every run.
std::vector<double> noisy(int n, double deviation, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal(1, deviation);
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(normal(bits));
  return v;
}

MeasuredCeiling ceiling(const std::string& id, double value, double spread = 0) {
  return {id, "bandwidth", id, "B/s", "", value, value * (1 - spread / 2), value * (1 + spread / 2)};
}

}  // namespace

TEST_CASE("the bootstrap's interval holds the true median in about 95 of 100 samples") {
  int inside = 0;
  for (unsigned s = 0; s < 200; ++s) {
    Interval i = median_interval(noisy(15, 0.02, s));
    CHECK(i.low <= i.median);
    CHECK(i.median <= i.high);
    if (i.low <= 1 && 1 <= i.high) ++inside;
  }
  CHECK(inside > 176);  // 190 expected
  CHECK(inside < 200);
  CHECK(median_interval({}).relative_width() == 1);
  CHECK(median_interval({2, 2, 2}).relative_width() == 0);
  CHECK(median_interval(noisy(50, 0.01, 3)).relative_width() < median_interval(noisy(10, 0.01, 3)).relative_width());
}

TEST_CASE("turns are repeated until the interval is narrow, or to a cap") {
  StopRule rule{5, 60, 45, 0.01};
  auto turns_for = [&](double deviation) {
    std::vector<double> all = noisy(100, deviation, 7), so_far;
    while (!rule.done(so_far, 0)) so_far.push_back(all[so_far.size()]);
    return so_far.size();
  };
  CHECK(turns_for(0) == 5);
  CHECK(turns_for(0.01) > 5);
  CHECK(turns_for(0.01) < 60);
  CHECK(turns_for(0.2) == 60);
  CHECK_FALSE(rule.done({1, 1, 1, 1}, 1000));  // never fewer than the least
  CHECK(rule.done({1, 2, 1, 2, 1}, 45));       // the time is up
  CHECK_FALSE(rule.done({1, 1.1, 0.9, 1.05, 0.95, 1}, 44));
  rule.settled = [](const Interval& interval) { return interval.low >= 0.9; };  // all of it earns the same points
  CHECK(rule.done({1, 1.1, 0.9, 1.05, 0.95, 1}, 44));
  CHECK_FALSE(rule.done({1, 1.1, 0.9, 1.05}, 44));
  CHECK_FALSE(rule.done({1, 1.1, 0.8, 0.85, 0.95, 1}, 44));
}

TEST_CASE("the slope is free of what every turn pays alike, and of outliers") {
  std::vector<double> calls, seconds;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(4 + i % 5);
    seconds.push_back(0.0004 + 0.0005 * calls.back());
  }
  CHECK(slope(calls, seconds) == Approx(0.0005));
  seconds[3] = 1;
  CHECK(slope(calls, seconds) == Approx(0.0005));
  CHECK(slope({4, 4, 4}, {1, 2, 3}) == 0);

  Timing t;
  t.turn_calls = {4, 5, 6, 7, 8};
  for (int n : t.turn_calls) {  // a constant that was not subtracted: the medians are off, the slopes are right
    t.submission_s.push_back((0.001 + 0.0005 * n) / n);
    t.baseline_s.push_back((0.001 + 0.00025 * n) / n);
  }
  summarise(t);
  CHECK(t.slope_s == Approx(0.0005));
  CHECK(t.baseline_slope_s == Approx(0.00025));
  CHECK(t.median > 0.5);
}

TEST_CASE("the coefficient of variation") {
  CHECK(coefficient_of_variation({}) == 0);
  CHECK(coefficient_of_variation({3}) == 0);
  CHECK(coefficient_of_variation({1, 3}) == Approx(std::sqrt(2.0) / 2));
}

TEST_CASE("a turn is long enough, larger than the L2, and never more than the memory holds") {
  TimedOptions o;
  TurnPlan copy = plan_turns(0.0005, 2e9, 60e6, 70e9, o);  // 3 ms of calls of half a millisecond
  CHECK(copy.most == 6);
  CHECK(copy.least == 3);
  CHECK(plan_turns(0.02, 2e8, 60e6, 70e9, o).most == 4);    // long calls: still an unknown number
  CHECK(plan_turns(1e-4, 1e6, 60e6, 70e9, o).most == 256);  // small data: 6 L2s of it, up to what a request holds
  CHECK(plan_turns(0.017, 6e5, 60e6, 70e9, o).most == 4);   // read in less than a thousandth of a call: no matter
  CHECK(plan_turns(0.0005, 2e9, 60e6, 5e9, o).most == 2);   // a small GPU
  CHECK(plan_turns(0.0005, 2e9, 60e6, 1e9, o).least == 1);
  TurnPlan small = plan_turns(1e-5, 1e6, 0, 70e9, o);
  CHECK(small.least * 1e-5 >= 0.001);
}

TEST_CASE("no call is faster than the measured machine") {
  Calibration machine;
  machine.ceilings = {ceiling("copy", 4e12), ceiling("read", 4.4e12), ceiling("write", 4.5e12),
                      ceiling("fp32", 5e13, 0.1), ceiling("bf16", 8e14)};
  lab::Work moved{1e9, "element", 4e9, 4e9};
  Floor f = floor_of(moved, machine, 8);
  CHECK(f.bound == "device memory");
  CHECK(f.seconds == Approx(8e9 / (4e12 * 1.04)));
  CHECK(floor_of({1e9, "element", 4e9, 4}, machine, 8).seconds == Approx(4e9 / (4.4e12 * 1.04)).epsilon(1e-6));
  lab::Work product{1e12, "flop", 1e8, 1e8};
  CHECK(floor_of(product, machine, 8).bound == "fp32");
  CHECK(floor_of(product, machine, 8).seconds == Approx(1e12 / (5e13 * 1.2)));  // twice the spread is given
  product.ceiling = "bf16";
  CHECK(floor_of(product, machine, 8).seconds == Approx(1e12 / (8e14 * 1.04)));
  CHECK(floor_of(moved, {}, 8).seconds == 0);
  machine.l2_bytes = 4'000'000'000;  // half of one call's bytes, shared by all calls
  CHECK(floor_of(moved, machine, 1).seconds == Approx(4e9 / (4.4e12 * 1.04)));
  CHECK(floor_of(moved, machine, 8).seconds == Approx(8e9 / (4e12 * 1.04)).epsilon(0.1));
}

TEST_CASE("a calibration is read as it was written, and nothing else is") {
  auto c = parse_ceiling(
      R"({"id":"copy","kind":"bandwidth","name":"device copy","unit":"B/s","method":"m","values":[5,1,3,2,4]})");
  REQUIRE(c);
  CHECK(c->value == 3);
  CHECK(c->low == 1);
  CHECK(c->high == 5);
  CHECK_FALSE(parse_ceiling("warning: something"));
  CHECK_FALSE(parse_ceiling(R"({"id":"copy"})"));
  CHECK_FALSE(parse_ceiling(R"({"id":"copy","kind":"","name":"","unit":"","method":"","values":[]})"));

  Calibration calibration;
  calibration.device = "Some GPU";
  calibration.uuid = "GPU-1";
  calibration.driver = "1.2";
  calibration.l2_bytes = 123;
  calibration.ceilings = {*c};
  auto again = parse_calibration(calibration_text(calibration));
  REQUIRE(again);
  CHECK(again->device == "Some GPU");
  CHECK(again->l2_bytes == 123);
  REQUIRE(again->find("copy") != nullptr);
  CHECK(again->find("copy")->high == 5);
  CHECK_FALSE(parse_calibration("{}"));
  CHECK_FALSE(parse_calibration("not JSON"));
  CHECK_FALSE(parse_calibration(R"({"schema":"ridge.calibration/1"})"));

  Profile profile{
      "p", "P", {{"hbm", "bandwidth", "HBM", "B/s", "data sheet", 9}, {"issue", "compute", "", "", "", 1}}, {}};
  CHECK(ceilings_of({}, profile)[0].value == 9);
  for (const char* link : {"h2d", "nvlink"}) {  // no roofs over a kernel
    calibration.ceilings.push_back(*c);
    calibration.ceilings.back().id = link;
  }
  auto roofs = ceilings_of(calibration, profile);
  REQUIRE(roofs.size() == 2);
  CHECK(roofs[0].id == "hbm");
  CHECK(roofs[0].value == 3);
  CHECK(roofs[1].id == "issue");
}

TEST_CASE("device memory that a job leaves behind is told") {
  GpuState before, after;
  before.known = after.known = true;
  before.used_bytes = 3ull << 30;
  after.used_bytes = before.used_bytes + (100 << 20);
  CHECK(gpu_leftover(before, after).empty());  // the judge's own context
  after.used_bytes = before.used_bytes + (300ull << 20);
  CHECK(gpu_leftover(before, after).find("300 MiB") != std::string::npos);
  after.used_bytes = 1ull << 30;  // another process ended
  CHECK(gpu_leftover(before, after).empty());
  before.known = false;
  after.used_bytes = 60ull << 30;
  CHECK(gpu_leftover(before, after).empty());
}

TEST_CASE("what disturbs a turn is named, and what every turn meets is not") {
  GpuState calm;
  calm.known = true;
  calm.sm_mhz = 1980;
  calm.throttle = 0x4 | 0x1;  // the power cap under full load, and idle
  CHECK(disturbance(calm, calm, 1980).empty());
  CHECK(disturbance(calm, calm, 0).empty());
  GpuState hot = calm;
  hot.throttle = 0x40;
  CHECK(disturbance(calm, hot, 1980).find("hardware thermal slowdown") != std::string::npos);
  CHECK_FALSE(disturbance(hot, calm, 1980).empty());
  GpuState slow = calm;
  slow.sm_mhz = 1900;
  CHECK(disturbance(calm, slow, 1980).find("1900 MHz") != std::string::npos);
  slow.sm_mhz = 1935;  // 2.3%
  CHECK(disturbance(calm, slow, 1980).empty());
  GpuState visited = calm;
  visited.busy_strangers = {4711};
  CHECK_FALSE(disturbance(calm, visited, 1980).empty());
  CHECK(disturbance({}, {}, 1980).empty());  // no NVML, no claims
  CHECK_FALSE(GpuMonitor("").read().known);
}

TEST_CASE("poison is NaN in every precision, and differs") {
  const bool output = GENERATE(true, false);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::uint32_t w = poison_word(0x123456789ABCDEFull, i, output);
    seen.insert(w);
    float f;
    std::memcpy(&f, &w, 4);
    CHECK(std::isnan(f));
    std::uint64_t pair = std::uint64_t{w} << 32 | w;
    double d;
    std::memcpy(&d, &pair, 8);
    CHECK(std::isnan(d));
    for (std::uint32_t half : {w & 0xFFFF, w >> 16}) {
      CHECK((half & 0x7C00) == 0x7C00);  // fp16: exponent all ones, fraction not zero
      CHECK((half & 0x3FF) != 0);
      CHECK((half & 0x7F80) == 0x7F80);  // bf16
      CHECK((half & 0x7F) != 0);
    }
  }
  CHECK(seen.size() > 500);
  CHECK(poison_word(1, 0, output) != poison_word(2, 0, output));
}

// --- a session ------------------------------------------------------------------------------------------------------

namespace {

// Lab 01's copy, on a few elements.
class SmallCopy : public lab::TaskCheck {
 public:
  std::string id() const override { return "copy"; }
  std::vector<lab::Case> cases(const lab::Request&) const override { return {}; }
  lab::Shape shape(const lab::Case& c) const override {
    auto bytes = static_cast<std::size_t>(c.size[0]) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const lab::Case&, std::uint64_t seed, lab::Buffers in) const override {
    lab::fill_normal(lab::floats(in[0]), seed);
    seeds.insert(seed);
  }
  lab::Verdict verify(const lab::Case&, lab::ConstBuffers in, lab::ConstBuffers out) const override {
    ++verified;
    if (lab::compares_all()) whole.push_back(verified);
    auto x = lab::floats(in[0]);
    return lab::compare_exact(
        lab::floats(out[0]), [&](std::size_t i) { return x[i]; }, [](std::size_t) { return "out"; });
  }
  lab::Work work(const lab::Case& c) const override {
    auto n = static_cast<double>(c.size[0]);
    return {n, "element", n * 4, n * 4};
  }
  mutable std::set<std::uint64_t> seeds;
  mutable int verified = 0;
  mutable std::vector<int> whole;  // which calls' outputs were compared in all blocks
};

struct SessionFixture {
  test::Folder home;
  Lab lab = find_lab("01");
  SmallCopy check;
  lab::Case small{"n 5003", {5003}, true};

  fs::path build(const std::string& name, std::vector<fs::path> overrides = {}) {
    Submission s{root_dir() / "solutions/01_coalescing", overrides, {}};
    for (std::size_t i = 0; i < overrides.size(); ++i) s.override_names.push_back("copy.cu");
    return build_worker(lab, s, lab::Backend::cpu, fs::path(home / name)).program;
  }
  static StartWorkers starter(const fs::path& program) {
    return [program] { return std::make_unique<SubmissionWorkers>(program, 0, lab::Backend::cuda, false); };
  }
  TimedRun run(Device& device, const fs::path& submission, const fs::path& baseline, const Calibration& machine = {},
               const lab::TaskCheck* other = nullptr) {
    TimedOptions o;
    o.stop = {3, 4, 60, 0.01};
    o.limit_seconds = 20;
    o.seed = 42;
    o.slowed_baseline = 1e9;  // the emulator's times mean nothing, and a busy machine is no submission's fault
    o.machine = machine;
    o.turn_seconds = o.least_seconds = 1e-6;
    o.explain = [](const Reply& r) { return std::string("fate ") + std::to_string(static_cast<int>(r.fate)); };
    const std::vector<Device*> devices = {&device};
    return time_case(devices, other != nullptr ? *other : check, small,
                     {starter(submission), starter(baseline), starter(baseline)}, o);
  }
};

}  // namespace

TEST_CASE("a large buffer of the host is poisoned, filled, read and wiped whole") {
  const std::size_t bytes = (std::size_t{5} << 20) + 4;  // parts of several threads, and a rest
  SharedHostBuffer buffer(bytes);
  buffer.poison(77, true);
  std::vector<std::uint32_t> words(bytes / 4);
  auto view = std::as_writable_bytes(std::span(words));
  buffer.download(view);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) wrong += words[i] != poison_word(77, i, true);
  CHECK(wrong == 0);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761u);
  const std::vector<std::uint32_t> sent = words;
  buffer.upload(view);
  std::fill(words.begin(), words.end(), 0u);
  buffer.download(view);
  CHECK(words == sent);
  buffer.wipe();
  buffer.download(view);
  CHECK(std::all_of(words.begin(), words.end(), [](std::uint32_t w) { return w == 0; }));
}

TEST_CASE("of a turn's calls the last is sampled, and few others that nobody knows") {
  for (std::size_t n : {1, 2, 3, 4, 5, 64}) {
    const std::vector<std::size_t> calls = timed::sampled_calls(n, 7);
    CHECK(std::set<std::size_t>(calls.begin(), calls.end()).size() == std::min(n, timed::kSampled));
    CHECK(std::all_of(calls.begin(), calls.end(), [&](std::size_t i) { return i < n; }));
    CHECK(calls.back() == n - 1);
  }
  // A submission that does the first calls of a turn alone in time is met, whatever their number.
  const std::size_t n = 60;
  std::vector<int> met(n);
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    for (std::size_t i : timed::sampled_calls(n, seed)) ++met[i];
  CHECK(met.back() == 2000);
  for (std::size_t i = 0; i + 1 < n; ++i) CHECK((met[i] > 50 && met[i] < 160));  // 2000 x 3 / 59 = 102
}

TEST_CASE("a program that never gets to its first call ends at its limit", "[session]") {
  setenv("RIDGE_ROOT", test::repository().c_str(), 1);
  SessionFixture f;
  const std::string source = f.home / "copy.cu";
  test::write_file(source, test::read_file((root_dir() / "solutions/01_coalescing/copy.cu").string()) +
                               "namespace { struct Early { Early() { for (volatile int i = 0;; i = i + 1) {} } }"
                               " early; }\n");
  const fs::path program = f.build("endless", {source});
  try {
    WorkerProcess worker(program, 0.5);
    FAIL("it started");
  } catch (const Error& e) {
    INFO(e.what());
    CHECK(std::string(e.what()).find("did not get to its first call in 0.5 s") != std::string::npos);
  }
}

TEST_CASE("a session: unknown numbers of calls, new inputs every turn, every output verified", "[session]") {
  setenv("RIDGE_ROOT", test::repository().c_str(), 1);
  SessionFixture f;
  fs::path solution = f.build("solution");
  auto device = make_cpu_device();
  TimedRun run = f.run(*device, solution, solution);
  REQUIRE(run.ok);
  const Timing& t = run.timing;
  REQUIRE(t.submission_s.size() >= 3);
  CHECK(t.baseline_s.size() == t.submission_s.size());
  CHECK(t.reference_s.size() == t.submission_s.size());
  int calls = 0;
  for (int n : t.turn_calls) {
    CHECK(n >= (t.calls + 1) / 2);
    CHECK(n <= t.calls);
    calls += n;
  }
  CHECK(t.calls >= 4);
  CHECK(f.check.verified == calls);
  REQUIRE(f.check.whole.size() == 1);  // a call of the first turn
  CHECK(f.check.whole[0] <= t.turn_calls[0]);
  CHECK(static_cast<int>(f.check.seeds.size()) == calls + 1);  // and one before, for all sets
  nlohmann::json j = timing_json(t);
  CHECK(j["turn_calls"].size() == t.turn_calls.size());
  CHECK(j["floor_s"].is_null());
  CHECK(j["reference_ratio"]["median"].get<double>() > 0);

  SECTION("a late write") {
    test::LateDevice late;
    TimedRun r = f.run(late, solution, solution);
    CHECK(r.check == "correct");
    CHECK(r.message.find("still being written") != std::string::npos);
  }
  SECTION("faster than the machine") {
    Calibration slow;
    slow.ceilings = {ceiling("copy", 1)};
    TimedRun r = f.run(*device, solution, solution, slow);
    CHECK(r.check == "implausible");
    CHECK(r.message.find("device memory") != std::string::npos);
  }
  SECTION("a wrong answer") {
    fs::path wrong = f.build("wrong", {root_dir() / "labs/01_coalescing/wrong/copy_tail_lost.cu"});
    TimedRun r = f.run(*device, wrong, solution);
    CHECK(r.check == "correct");
    CHECK(r.message.find("turn 1") != std::string::npos);
  }
}
