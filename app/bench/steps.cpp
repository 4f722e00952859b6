// ridge bench --steps measures each step of the solutions' climbs in turn with its task's baseline, and records it in
// benchmarks/<device>/LAB.steps.json. ridge bench --tables writes pages of what is recorded: solutions/LAB/README.md of
// the steps, benchmarks/<device>/README.md of the results.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/bench/bench.hpp"
#include "app/grading/ceilings.hpp"
#include "grader/base/error.hpp"
#include "grader/bench/bench_page.hpp"
#include "grader/bench/climb.hpp"
#include "grader/judge/judge.hpp"
#include "grader/machine/device.hpp"
#include "grader/result/record.hpp"
#include "grader/result/report.hpp"
#include "ridge_version.hpp"

namespace ridge {

using nlohmann::json;

namespace {

std::vector<Lab> labs_of(const BenchArguments& a) {
  return a.lab.empty() ? load_labs() : std::vector<Lab>{find_lab(a.lab)};
}

const Task& task_of(const Lab& lab, const Step& step) {
  return *std::find_if(lab.tasks.begin(), lab.tasks.end(), [&](const Task& t) { return t.id == step.task; });
}

// The requirements of a step or its task that this device lacks; empty if there are none.
std::string missing(const Step& step, const Task& task, const DeviceInfo& device) {
  const bool gpu = device.kind == DeviceKind::gpu;
  if (!gpu && !task.runs_emulated()) return "needs a GPU (" + task.needs + ")";
  for (const std::string& needs : {step.needs, task.needs})
    if (!needs.empty() && !runs_on(needs, gpu ? device.compute : kEmulatedCompute))
      return fmt::format("needs {}", gpu ? needs : "a GPU (" + needs + ")");
  return {};
}

std::string line(const Step& s, const json& j) {
  std::string text = fmt::format("  {:<12} {:<9} {}", s.task, s.number > 0 ? std::to_string(s.number) : "solution",
                                 j["status"].get<std::string>());
  if (!j["timing"].is_null()) text += fmt::format("   ratio {:.3f}", j["timing"]["ratio"]["median"].get<double>());
  if (std::string reason = j["reason"]; !reason.empty()) text += ": " + reason;
  return text + "\n";
}

class Climb {
 public:
  Climb(const Lab& lab, const JudgeOptions& options, const DeviceInfo& device, fs::path file)
      : lab_(lab), options_(options), device_(device), file_(std::move(file)) {}

  // Returns false if a step is wrong. The record is written after each step, so that an interrupted run keeps its part.
  bool run(const std::vector<Step>& steps) {
    bool right = true;
    record_ = {{"schema", "ridge.steps/1"},
               {"lab", lab_.name},
               {"backend", options_.backend},
               {"mode", options_.sizes()},
               {"ridge", {{"version", kVersion}, {"commit", kCommit}}},
               {"steps", json::array()}};
    for (const Step& s : steps) {
      json j = judged(s);
      options_.progress("");
      fmt::print("{}", line(s, j));
      std::fflush(stdout);
      right = right && j["status"] != Status::failed;
      record_["steps"].push_back(std::move(j));
      record_["complete"] = &s == &steps.back();
      if (record_.contains("device")) write_durably(file_, canonical(record_));
    }
    return right;
  }

 private:
  json judged(const Step& s) {
    const Task& task = task_of(lab_, s);
    if (std::string why = missing(s, task, device_); !why.empty()) return skipped_step_json(s, task, why);
    JudgeOptions o = options_;
    o.task = s.task;
    if (s.number > 0) {
      o.submission.overrides = {o.submission.dir / s.file};
      o.submission.override_names = {s.replaces};
    }
    if (o.backend == lab::Backend::cuda) {
      if (!baseline_) baseline_ = build_baseline(lab_, dir_.path() / "baseline");
      o.timed.baseline = &*baseline_;
    }
    Result r = judge(lab_, o);
    if (!record_.contains("device")) {
      record_["device"] = r.device;
      record_["date"] = r.time;
      record_["compiler"] = {{"name", r.compiler}, {"flags", r.compiler_flags}};
    }
    if (!r.build_output.empty()) fmt::print("{}\n", r.build_output);
    return step_json(s, task, r.tasks.at(0));
  }

  const Lab& lab_;
  const JudgeOptions& options_;
  const DeviceInfo& device_;
  fs::path file_;
  TemporaryDir dir_{"steps"};
  std::optional<BuiltWorker> baseline_;
  json record_;
};

}  // namespace

int bench_steps(const BenchArguments& a) {
  const bool gpu = bench_on_gpu(a);
  Progress progress(true);
  JudgeOptions o;
  o.backend = gpu ? lab::Backend::cuda : lab::Backend::cpu;
  // Sizes are those of `ridge grade`; turns are as few as those of `ridge check`, since first steps are slow.
  o.mode = lab::Mode::check;
  o.step.sizes = a.check ? lab::Mode::check : lab::Mode::grade;
  o.step.one_case = true;
  o.time_limit = 60;
#ifndef RIDGE_DEFENCE_SWITCHES
  o.submission.reuse = true;
#endif
  o.progress = [&](const std::string& text) { text.empty() ? progress.clear() : progress.show(text); };
  if (gpu) o.timed.machine = calibration_for(true, o.progress);
  const DeviceInfo device = (gpu ? make_cuda_device() : make_cpu_device())->info();
  const fs::path dir = a.out.empty() ? root_dir() / "benchmarks" / folder_of(device.name) : fs::path(a.out);
  bool any = false, right = true;
  for (const Lab& lab : labs_of(a)) {
    o.submission.dir = root_dir() / "solutions" / lab.name;
    const std::vector<Step> steps = steps_of(lab, o.submission.dir);
    if (steps.empty()) continue;
    any = true;
    fmt::print("{}\n", lab.name);
    const fs::path file = dir / (lab.name + ".steps.json");
    right = Climb(lab, o, device, file).run(steps) && right;
    fmt::print("  written: {}\n", shown(file));
  }
  if (!any) throw Error(Exit::usage, "there are no steps to measure", "solutions/LAB/steps holds them");
  return static_cast<int>(right ? Exit::passed : Exit::failed);
}

int bench_tables(const BenchArguments& a) {
  const fs::path out = a.out.empty() ? root_dir() / "solutions" : fs::path(a.out);
  for (const auto& entry : fs::directory_iterator(root_dir() / "benchmarks")) {
    const std::string page = entry.is_directory() ? bench_page(entry.path()) : "";
    if (page.empty()) continue;
    const fs::path file = (a.out.empty() ? entry.path() : out / entry.path().filename()) / "README.md";
    write_durably(file, page);
    fmt::print("written: {}\n", shown(file));
  }
  for (const Lab& lab : labs_of(a)) {
    std::vector<ClimbRecord> records;
    for (const auto& entry : fs::directory_iterator(root_dir() / "benchmarks")) {
      const fs::path file = entry.path() / (lab.name + ".steps.json");
      if (!fs::exists(file)) continue;
      json j = json::parse(file_text(file), nullptr, false);
      if (j.is_discarded() || j.value("schema", "") != "ridge.steps/1")
        throw Error(Exit::usage, shown(file) + " is no record of steps", "`ridge bench --steps` makes one");
      records.push_back({fs::relative(file, root_dir()).generic_string(), std::move(j)});
    }
    if (records.empty()) continue;
    // GPUs come before the emulator.
    std::sort(records.begin(), records.end(), [](const ClimbRecord& x, const ClimbRecord& y) {
      return std::pair(x.json.at("backend") == lab::Backend::cpu, x.path) <
             std::pair(y.json.at("backend") == lab::Backend::cpu, y.path);
    });
    write_durably(out / lab.name / "README.md", climb_page(lab, records));
    fmt::print("written: {}\n", shown(out / lab.name / "README.md"));
  }
  return 0;
}

}  // namespace ridge
