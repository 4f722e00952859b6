// ridge bench measures the reference solution of every lab in turn with its baseline, and records the results in
// benchmarks/<device>/.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "app/bench/bench.hpp"
#include "app/grading/ceilings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/bench/bench_page.hpp"
#include "grader/judge/judge.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/measure/calibrate.hpp"
#include "grader/result/report.hpp"
#include "ridge_version.hpp"

namespace ridge {

std::string folder_of(const std::string& device, int gpus) {
  if (device == "SIMT emulator") return "emulator";
  std::string name, full = device.rfind("NVIDIA ", 0) == 0 ? device.substr(7) : device;
  // The memory in "H100 80GB HBM3" is no part of the name.
  if (const auto at = full.find("GB "); at != std::string::npos)
    full.resize(std::min(full.rfind(' ', at), full.size()));
  for (char c : full)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
  return gpus > 1 ? fmt::format("{}x{}", name, gpus) : name;
}

bool bench_on_gpu(const BenchArguments& a) {
  std::string why;
  const bool gpu = a.backend != lab::Backend::cpu && cuda_available(why) && !find_nvcc().empty();
  if (a.backend == lab::Backend::cuda && !gpu)
    throw Error(Exit::environment, "backend cuda: " + (why.empty() ? "no nvcc was found" : why), "use --backend cpu");
  return gpu;
}

namespace {

double sum_of(const Timeline& t, std::string_view kind) {
  double sum = 0;
  for (const auto& i : t.items) sum += i.kind == kind ? i.end - i.start : 0;
  return sum;
}

// Records the virtual time of the cases that GPUs are timed on, for each lab with ranks (schema ridge.emulated/1). All
// times are in seconds.
int emulate_gpus(const BenchArguments& a) {
  Progress progress(true);
  JudgeOptions o;
  o.mode = a.check ? lab::Mode::check : lab::Mode::grade;
  o.ranks.as_gpus = a.emulate_gpus;
  o.time_limit = 3600;  // the sizes of a GPU take long
  o.progress = [&](const std::string& text) { progress.show(text); };
  const fs::path dir =
      a.out.empty() ? root_dir() / "benchmarks/emulator" / fmt::format("x{}", a.emulate_gpus) : fs::path(a.out);
  for (const Lab& lab : a.lab.empty() ? load_labs() : std::vector<Lab>{find_lab(a.lab)}) {
    if (lab.most_gpus(a.emulate_gpus) != a.emulate_gpus || !lab.has_backend(lab::Backend::cpu)) continue;
    o.submission.dir = root_dir() / "solutions" / lab.name;
    o.task = a.task;
    const Result r = judge(lab, o);
    progress.clear();
    nlohmann::json j = {
        {"schema", "ridge.emulated/1"},      {"lab", lab.name}, {"gpus", a.emulate_gpus}, {"mode", r.mode},
        {"profile", r.device.at("profile")}, {"time", r.time},  {"commit", kCommit},      {"compiler", r.compiler},
        {"tasks", nlohmann::json::array()}};
    for (const TaskResult& t : r.tasks) {
      if (t.ranks.empty()) continue;
      auto slowest = std::max_element(t.ranks.begin(), t.ranks.end(),
                                      [](const Timeline& x, const Timeline& y) { return x.seconds < y.seconds; });
      j["tasks"].push_back({{"id", t.id},
                            {"case", t.cases.back().name},
                            {"correct", t.cases.back().passed},
                            {"seconds", slowest->seconds},
                            {"launches", slowest->launches},
                            {"kernels_s", sum_of(*slowest, "kernel")},
                            {"messages_s", sum_of(*slowest, "exchange")}});
      fmt::print("{:<22} {:<18} {:.1f} us\n", lab.name, t.id, slowest->seconds * 1e6);
    }
    write_durably(dir / (lab.name + (a.task.empty() ? "" : "." + a.task) + ".json"), j.dump(1) + "\n");
  }
  return 0;
}

}  // namespace

int bench_labs(const BenchArguments& a) {
  if (a.emulate_gpus > 0) return emulate_gpus(a);
  const bool gpu = bench_on_gpu(a);
  Progress progress(true);
  JudgeOptions o;
  o.backend = gpu ? lab::Backend::cuda : lab::Backend::cpu;
  o.mode = a.check ? lab::Mode::check : lab::Mode::grade;
  o.progress = [&](const std::string& text) { progress.show(text); };
  o.timed.narrow = true;
  if (gpu) o.timed.machine = calibration_for(!a.check, o.progress);  // a check takes the stored ceilings
  std::vector<Lab> labs = a.lab.empty() ? load_labs() : std::vector<Lab>{find_lab(a.lab)};
  std::set<fs::path> dirs;  // labs with ranks have a folder of their own
  int code = 0;
  for (const Lab& lab : labs) {
    if (!lab.has_backend(o.backend)) {
      fmt::print("{:<22} skipped: it is not judged on this backend\n", lab.name);
      continue;
    }
    if (gpu && cuda_devices() < lab.least_gpus()) {
      fmt::print("{:<22} skipped: it needs {} GPUs or more\n", lab.name, lab.least_gpus());
      continue;
    }
    o.submission.dir = root_dir() / "solutions" / lab.name;
    if (!fs::exists(o.submission.dir)) {
      fmt::print("{:<22} skipped: no reference solution here\n", lab.name);
      continue;
    }
    Result r = judge(lab, o);
    r.submission_path = "solutions/" + lab.name;  // the same wherever the repository lies
    progress.clear();
    const int gpus = gpu ? lab.most_gpus(cuda_devices()) : 1;
    const fs::path dir =
        a.out.empty() ? root_dir() / "benchmarks" / folder_of(r.device["name"], gpus) : fs::path(a.out);
    dirs.insert(dir);
    if (r.outcome != Outcome::passed) {
      code = static_cast<int>(Exit::failed);
      fmt::print("{}", report(r, use_colour(stdout)));
      if (!r.build_output.empty()) fmt::print("{}\n", r.build_output);
    }
    write_durably(dir / (lab.name + ".json"), to_json(r));
    fmt::print("{:<22} {}   {:.1f} s\n", lab.name, points_text(r.points, r.max), r.build_seconds + r.run_seconds);
  }
  if (dirs.empty()) throw Error(Exit::usage, "there is no reference solution to measure", "solutions/ holds them");
  Calibration published = o.timed.machine;
  published.uuid.clear();  // the page is about the model, not about one card
  for (const fs::path& dir : dirs) {
    if (published.known()) write_durably(dir / "calibration.json", calibration_text(published));
    write_durably(dir / "README.md", bench_page(dir));
    fmt::print("written: {}\n", shown(dir / "README.md"));
  }
  return code;
}

}  // namespace ridge
