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

// "NVIDIA H200" -> "h200".
std::string folder_of(const std::string& device) {
  std::string name;
  for (char c : device.rfind("NVIDIA ", 0) == 0 ? device.substr(7) : device)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
  return name;
}

std::string range(const std::vector<double>& v, const char* unit) {
  if (v.empty()) return "not read";
  auto [low, high] = std::minmax_element(v.begin(), v.end());
  return fmt::format("{:.0f} to {:.0f} {}", *low, *high, unit);
}

std::string row(const Result& r, const TaskResult& t) {
  std::string head = fmt::format("| [{}]({}.json) | {} | {:.0f} / {:.0f} |", r.lab, r.lab, t.id, t.points, t.max);
  if (!t.timing) {
    std::string counts;
    for (const auto& g : t.goals)
      if (g.value) counts += fmt::format("{}{} {:.3g}", counts.empty() ? "" : ", ", g.metric, *g.value);
    return head + fmt::format(" {} |\n", counts.empty() ? t.status : counts);
  }
  const Timing& m = *t.timing;
  double seconds = median(m.submission_s);
  return head + fmt::format(" {:.3f} | {:.3f} to {:.3f} | {:.4g} us | {:.0f} GB/s | {} | {} x {} to {} | {} |\n",
                            m.median, m.low, m.high, seconds * 1e6, m.bytes / seconds / 1e9,
                            m.floor_s > 0 ? fmt::format("{:.1f}%", 100 * m.floor_s / seconds) : "-",
                            m.submission_s.size(), (m.calls + 1) / 2, m.calls, m.disturbed.empty() ? "" : m.disturbed);
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
      if (t.timing) {
        auto add = [](std::vector<double>& to, const std::vector<double>& v) {
          to.insert(to.end(), v.begin(), v.end());
        };
        add(seen.sm_mhz, t.timing->conditions.sm_mhz);
        add(seen.temperature_c, t.timing->conditions.temperature_c);
        add(seen.power_w, t.timing->conditions.power_w);
      }
  if (timed)
    out += fmt::format("| SM clock, temperature, power after the turns | {}, {}, {} |\n", range(seen.sm_mhz, "MHz"),
                       range(seen.temperature_c, "degrees C"), range(seen.power_w, "W"));
  if (timed)
    out +=
        "\nRatios are the vendor's time over the reference solution's, in turn in one session: median over the turns "
        "with "
        "its\n95% bootstrap interval. The floor is the least time that this machine, as measured, allows for the "
        "work.\n\n| lab | task | points | ratio | interval | a call | bytes | floor / time | turns x calls | disturbed "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n";
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

int command_bench_labs(const BenchArguments& a) {
  std::string why;
  const bool gpu = a.backend != "cpu" && cuda_available(why) && !find_nvcc().empty();
  if (a.backend == "cuda" && !gpu)
    throw Error(Exit::environment, "backend cuda: " + (why.empty() ? "no nvcc was found" : why), "use --backend cpu");
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
  if (o.machine.known()) write_durably(dir / "calibration.json", calibration_text(o.machine));
  write_durably(dir / "README.md", read_me(results, o.machine, a));
  fmt::print("written: {}\n", shown(dir / "README.md"));
  return code;
}

}  // namespace ridge
