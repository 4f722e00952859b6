// Questions that times answer: a task of lab 11 judged as on a GPU, with the emulator in its place and with products that
// only pass time.
#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/error.hpp"
#include "grader/build/build.hpp"
#include "grader/build/check_module.hpp"
#include "grader/judge/task_judge.hpp"
#include "grader/measure/worker_stopwatch.hpp"
#include "late_device.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;

namespace {

class Gpu : public test::LateDevice {
 public:
  explicit Gpu(std::string compute) : compute_(std::move(compute)) {}
  DeviceInfo info() const override {
    DeviceInfo i = LateDevice::info();
    i.compute = compute_;
    return i;
  }

 private:
  std::string compute_;
};

// Times that are as given.
class Scripted : public lab::Stopwatch {
 public:
  std::vector<std::vector<double>> times(const lab::TaskCheck& task, std::span<const lab::Case> cases,
                                         int turns) override {
    CHECK(task.id() == "product");
    std::vector<std::vector<double>> all;
    for (const lab::Case& c : cases) {
      asked.push_back(static_cast<int>(c.size[3]));
      all.emplace_back();
      for (int turn = 0; turn < turns; ++turn) all.back().push_back(seconds(asked.back(), turn));
    }
    return all;
  }
  std::function<double(int config, int turn)> seconds;
  std::vector<int> asked;
};

struct Fixture {
  test::Folder home;
  Lab lab;

  Fixture() {
    setenv("RIDGE_ROOT", test::repository().c_str(), 1);
    lab = find_lab("11");
  }
  // A program whose autotune.cu has this body, and whose product takes 50 times as long for one configuration.
  fs::path build(const std::string& name, const std::string& body) const {
    const fs::path from = home / (name + "_source");
    fs::create_directories(from);
    for (const auto& file : fs::directory_iterator(fs::path(test::repository()) / "solutions/11_profiling"))
      if (file.path().extension() == ".cu") fs::copy(file.path(), from);
    std::ofstream(from / "autotune.cu")
        << "#include \"search.hpp\"\nint autotune(const Shape&, const Measure& measure) {" << body << "}\n";
    std::ofstream(from / "products.cu") << R"(#include "lab/call.hpp"
static bool pass_time(const ridge_call& c) {
  if (c.size[3] == 63) return false;
  for (volatile int i = 0; i < (c.size[3] == 21 ? 1000000 : 20000); i = i + 1) {}
  return true;
}
extern bool (*product)(const ridge_call&);
bool set = (product = pass_time, true);
)";
    return build_worker(lab, {from, {}, {}}, lab::Backend::cpu, fs::path(home / name)).program;
  }
  std::unique_ptr<lab::TaskCheck> check() const {
    lab::TaskChecks checks = load_checks(lab, [](const std::string&) {});
    return std::move(*std::find_if(checks.begin(), checks.end(), [](const auto& c) { return c->id() == "autotune"; }));
  }
  TaskResult judged(const fs::path& program, const fs::path& products, const std::string& compute = "9.0") const {
    const auto spec =
        std::find_if(lab.tasks.begin(), lab.tasks.end(), [](const Task& t) { return t.id == "autotune"; });
    JudgeOptions options;
    options.backend = lab::Backend::cuda;
    Gpu gpu(compute);
    return TaskJudge(lab, *spec, *check(), options, gpu, {program, {}, products, {}}, 7).run();
  }
};

std::string first_failed(const TaskResult& t) {
  for (const CheckResult& c : t.checks)
    if (!c.passed) return c.name + ": " + c.message;
  return {};
}

class Call : public lab::TaskCheck {
 public:
  std::string id() const override { return "product"; }
  std::vector<lab::Case> cases(const lab::Request&) const override { return {}; }
  lab::Shape shape(const lab::Case&) const override { return {{4}, {4}}; }
  void fill(const lab::Case&, std::uint64_t, lab::Buffers) const override {}
  lab::Verdict verify(const lab::Case&, lab::ConstBuffers, lab::ConstBuffers) const override { return {}; }
  lab::Work work(const lab::Case&) const override { return {}; }
};

lab::Case configured(int config) { return {{}, {1, 1, 1, config}}; }

}  // namespace

TEST_CASE("a stopwatch has a time of each case in each turn") {
  const Fixture f;
  Gpu gpu("9.0");
  JudgeTime time;
  WorkerStopwatch stopwatch(gpu, f.build("products", "return 0;"), 1, 20, time);
  const Call product;
  const auto times = stopwatch.times(product, std::vector{configured(3), configured(20), configured(5)}, 5);
  REQUIRE(times.size() == 3);
  for (const auto& of_case : times) {
    REQUIRE(of_case.size() == 5);
    for (const double seconds : of_case) CHECK(seconds > 0);
  }
  CHECK(stopwatch.times(product, {}, 5).empty());
  CHECK_THROWS_AS(stopwatch.times(product, std::vector{configured(63)}, 1), Error);  // the machine's fault
}

TEST_CASE("the mark of a search is the median of ratios within turns") {
  const Fixture f;
  const auto check = f.check();
  const auto* by_times = dynamic_cast<const lab::AnswersByTimes*>(check.get());
  REQUIRE(by_times != nullptr);
  const lab::Case c = check->cases({lab::Mode::check, lab::Backend::cuda, 1u << 30, 1, {}}).front();
  Scripted script;
  // Turn 6 is ten times as slow for all, and turn 5 for configuration 44 alone: neither counts.
  script.seconds = [](int config, int turn) {
    return (config == 20 ? 1.0 : config == 44 ? 1.25 : 2.0) * (turn == 6 || (turn == 5 && config == 44) ? 10 : 1);
  };
  by_times->time_before(c, script);
  CHECK(script.asked.size() == 47);  // those that can run
  script.asked.clear();
  auto question = [](int config) { return lab::Question{{config}}; };
  std::vector<lab::Question> asked = {question(44)};
  CHECK(by_times->timed_answer(c, asked, script).value[0] == 1.25);
  CHECK(script.asked == std::vector{44});
  asked.push_back(question(4));  // cannot run
  CHECK(by_times->timed_answer(c, asked, script).value[0] < 0);
  CHECK(script.asked.size() == 1);

  auto marked = [&](std::int32_t chosen) {
    const std::span<const std::byte> out[] = {std::as_bytes(std::span(&chosen, 1))};
    return check->marks(c, {}, out, asked).at(0);
  };
  CHECK(marked(20).value == 1);
  CHECK(marked(44).value == 1.25);
  CHECK(marked(44).message.find(", 20 (tile 64 x 64") != std::string::npos);
  CHECK(marked(44).message.find("was not measured") == std::string::npos);
  CHECK(marked(45).value == 2);
  CHECK(marked(45).message.find("it was not measured itself") != std::string::npos);
  CHECK(marked(45).secret.find("45") == std::string::npos);
}

TEST_CASE("on a GPU a search is answered and held against what the judge has timed") {
  const Fixture f;
  // A configuration that cannot run is returned where the answers are no times of these products.
  const fs::path found = f.build("found", "return measure(21) > measure(20) ? 20 : 4;");
  TaskResult t = f.judged(found, found);
  INFO(first_failed(t));
  CHECK(t.cases.size() == 4);
  CHECK(t.points >= 6);  // for a right answer; how busy this machine is decides the rest
  CHECK(t.max == 20);

  t = f.judged(f.build("blind", "return 21;"), found);
  CHECK(first_failed(t).starts_with("time: "));
  CHECK(first_failed(t).find("in 7 turns") != std::string::npos);
  CHECK(t.points == 6);

  t = f.judged(f.build("many", "for (int i = 0; i < 13; ++i) measure(20); return 20;"), found);
  CHECK(first_failed(t).find("13 questions in 1 call") != std::string::npos);
  t = f.judged(f.build("impossible", "return measure(4) < 0 ? 20 : 4;"), found);
  CHECK(first_failed(t).starts_with("questions: "));
}

TEST_CASE("on a GPU that cannot run what is timed, the task is skipped") {
  const Fixture f;
  const TaskResult t = f.judged({}, {}, "8.6");
  CHECK(t.status == Status::skipped);
  CHECK(t.reason.find("227 KiB") != std::string::npos);
  CHECK(t.max == 0);
}
