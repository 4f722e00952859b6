// ridge bench: the reference solution of every lab in turn with the vendor's way, to benchmarks/<device>/.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "calibrate.hpp"
#include "commands.hpp"
#include "error.hpp"
#include "judge.hpp"
#include "report.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

std::string range(const std::vector<double>& v, const char* unit) {
  if (v.empty()) return "not read";
  auto [low, high] = std::minmax_element(v.begin(), v.end());
  return fmt::format("{:.0f} to {:.0f} {}", *low, *high, unit);
}

std::string row(const Result& r, const TaskResult& t) {
  const std::string lab = fmt::format("| [{}]({}.json) | {} |", r.lab, r.lab, t.id);
  if (t.timings.empty()) {
    std::string counts;
    for (const auto& g : t.goals)
      if (g.value) counts += fmt::format("{}{} {:.3g}", counts.empty() ? "" : ", ", g.metric, *g.value);
    return fmt::format("{} {:.0f} / {:.0f} | {} |\n", lab, t.points, t.max,
                       t.status == "skipped" ? "skipped: " + t.reason
                       : counts.empty()      ? t.status
                                             : counts);
  }
  std::string out;
  for (const Timing& m : t.timings) {
    const double seconds = median(m.submission_s);
    const bool flops = t.roofline && t.roofline->operation_unit == "flop";
    out += lab + fmt::format(
                     " {} | {:.0f} / {:.0f} | {:.3f} | {:.3f} to {:.3f} | {:.4g} us | {} | {} | {} x {} to {} | {} |\n",
                     m.name, t.points, t.max, m.median, m.low, m.high, seconds * 1e6,
                     flops ? fmt::format("{:.1f} TFLOP/s", m.operations / seconds / 1e12)
                           : fmt::format("{:.0f} GB/s", m.bytes / seconds / 1e9),
                     m.floor_s > 0 ? fmt::format("{:.1f}%", 100 * m.floor_s / seconds) : "-", m.submission_s.size(),
                     (m.calls + 1) / 2, m.calls, m.disturbed);
  }
  return out;
}

std::string read_me(const std::vector<Result>& results, const Calibration& machine, const BenchArguments& a) {
  const Result& first = results.front();
  bool timed = first.backend == "cuda";
  auto about = [&](const char* key) {
    auto at = first.device.find(key);
    return at == first.device.end() ? std::string("-") : at->second;
  };
  std::string out =
      fmt::format("# {}\n\nMade by `ridge bench{}{}`; every figure comes from the files beside this one.\n\n",
                  about("name"), a.check ? " --check" : "", a.lab.empty() ? "" : " --lab " + a.lab);
  out += fmt::format("| | |\n|---|---|\n| date | {} |\n| commit | {} |\n| compiler | {}, {} |\n", first.time, kCommit,
                     first.compiler, first.compiler_flags);
  if (timed)
    out += fmt::format("| driver, CUDA | {}, {} |\n| clocks at the start (SM, memory), degrees C | {} |\n",
                       about("driver"), about("runtime"), about("clocks"));
  else
    out += fmt::format("| profile | {} |\n", about("profile"));
  Conditions seen;
  for (const auto& r : results)
    for (const auto& t : r.tasks)
      for (const Timing& timing : t.timings) {
        auto add = [](std::vector<double>& to, const std::vector<double>& v) {
          to.insert(to.end(), v.begin(), v.end());
        };
        add(seen.sm_mhz, timing.conditions.sm_mhz);
        add(seen.temperature_c, timing.conditions.temperature_c);
        add(seen.power_w, timing.conditions.power_w);
      }
  if (timed)
    out += fmt::format("| SM clock, temperature, power after the turns | {}, {}, {} |\n", range(seen.sm_mhz, "MHz"),
                       range(seen.temperature_c, "degrees C"), range(seen.power_w, "W"));
  if (timed)
    out +=
        "\nRatios are the vendor's time over the reference solution's, in turn in one session: median over the turns "
        "with "
        "its\n95% bootstrap interval. The floor is the least time that this machine, as measured, allows for the "
        "work.\n\n| lab | task | case | points | ratio | interval | a call | rate | floor / time | turns x calls | "
        "disturbed "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  else
    out += "\n| lab | task | points | counts |\n|---|---|---|---|\n";
  for (const auto& r : results)
    for (const auto& t : r.tasks) out += row(r, t);
  if (machine.known())
    out +=
        "\n## Ceilings\n\n`ridge calibrate`, medians of 20 with the spread of the middle nine tenths "
        "([calibration.json](calibration.json)):\n\n| id | what | measured | spread | how |\n|---|---|---|---|---|\n" +
        calibration_table(machine);
  return out;
}

}  // namespace

std::string folder_of(const std::string& device) {
  if (device == "SIMT emulator") return "emulator";
  std::string name;
  for (char c : device.rfind("NVIDIA ", 0) == 0 ? device.substr(7) : device)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
  return name;
}

bool bench_on_gpu(const BenchArguments& a) {
  std::string why;
  const bool gpu = a.backend != "cpu" && cuda_available(why) && !find_nvcc().empty();
  if (a.backend == "cuda" && !gpu)
    throw Error(Exit::environment, "backend cuda: " + (why.empty() ? "no nvcc was found" : why), "use --backend cpu");
  return gpu;
}

int command_bench_labs(const BenchArguments& a) {
  const bool gpu = bench_on_gpu(a);
  Progress progress(true);
  JudgeOptions o;
  o.backend = gpu ? lab::Backend::cuda : lab::Backend::cpu;
  o.mode = a.check ? lab::Mode::check : lab::Mode::grade;
  o.progress = [&](const std::string& text) { progress.show(text); };
  if (gpu) o.machine = calibration_for(true, o.progress);
  std::vector<Lab> labs = a.lab.empty() ? load_labs() : std::vector<Lab>{find_lab(a.lab)};
  std::vector<Result> results;
  fs::path dir = a.out;
  int code = 0;
  for (const Lab& lab : labs) {
    o.submission.dir = root_dir() / "solutions" / lab.name;
    if (!fs::exists(o.submission.dir)) {
      fmt::print("{:<22} skipped: no reference solution here\n", lab.name);
      continue;
    }
    Result r = judge(lab, o);
    progress.clear();
    if (dir.empty()) dir = root_dir() / "benchmarks" / folder_of(r.device["name"]);
    if (r.outcome != "passed") {
      code = static_cast<int>(Exit::failed);
      fmt::print("{}", report(r, use_colour(stdout)));
      if (!r.build_output.empty()) fmt::print("{}\n", r.build_output);
    }
    write_durably(dir / (lab.name + ".json"), to_json(r));
    fmt::print("{:<22} {:.0f} / {:.0f}   {:.1f} s\n", lab.name, r.points, r.max, r.build_seconds + r.run_seconds);
    results.push_back(std::move(r));
  }
  if (results.empty()) throw Error(Exit::usage, "there is no reference solution to measure", "solutions/ holds them");
  Calibration published = o.machine;
  published.uuid.clear();  // one card among its like
  if (published.known()) write_durably(dir / "calibration.json", calibration_text(published));
  write_durably(dir / "README.md", read_me(results, o.machine, a));
  fmt::print("written: {}\n", shown(dir / "README.md"));
  return code;
}

}  // namespace ridge
