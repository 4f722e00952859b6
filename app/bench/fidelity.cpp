// ridge bench fidelity runs the programs of benchmarks/fidelity on the emulator. It compares the counts and times with
// those of a GPU, which are recorded on this machine (nvcc, ncu) or were recorded before.
#include "grader/bench/fidelity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "app/bench/bench.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/build/build.hpp"
#include "grader/compile/compile.hpp"
#include "grader/machine/device.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

constexpr const char* kPrograms[] = {"streaming", "transpose", "shared", "reduce",
                                     "gather",    "stencil",   "matmul", "irregular"};
// Runs where it is named alone, and has a recording of its own.
constexpr const char* kOwnRecording = "hopper";

// The line "// arch: sm_90a" of a source, for nvcc; this machine's GPU where there is none.
std::string architecture(const std::string& source) {
  constexpr std::string_view kHead = "// arch: sm_";
  if (source.rfind(kHead, 0) != 0) return "-arch=native";
  const std::string number = source.substr(kHead.size(), source.find('\n') - kHead.size());
  return fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number);
}

fs::path folder() { return root_dir() / "benchmarks/fidelity"; }

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(Exit::usage, "cannot read " + shown(file), "check the path");
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, const std::string& text) {
  std::error_code ec;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), ec);
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw Error(Exit::environment, "cannot write " + shown(file), "check the folder, and the room on the disk");
}

std::string last_lines(const std::string& text) {
  std::string tail = text.size() > 2000 ? text.substr(text.size() - 2000) : text;
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  return tail;
}

// Runs the program and returns its output. Throws if the program fails.
std::string must_run(const std::vector<std::string>& argv, double seconds, const std::string& what) {
  ProcessLimits limits;
  limits.seconds = seconds;
  limits.output_bytes = 16 * 1024 * 1024;
  ProcessResult r = run_process(argv, {}, limits);
  if (r.exit_code == 0 && !r.timed_out) return r.output;
  throw Error(Exit::environment,
              fmt::format("{} {}:\n{}", what, r.timed_out ? fmt::format("took more than {:.0f} s", seconds) : "failed",
                          last_lines(r.output)),
              "run it alone to see more");
}

fs::path find_ncu() { return find_program({"ncu", "/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu"}); }

std::vector<std::string> metrics_to_record() {
  std::vector<std::string> names;
  std::istringstream lines(read_text(folder() / "metrics.txt"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') names.push_back(line);
  return names;
}

std::string first_line_of(const std::vector<std::string>& argv) {
  std::string out = run_process(argv, {}, {}).output;
  return out.substr(0, out.find('\n'));
}

std::string last_line_of(const std::vector<std::string>& argv) {
  std::string out = run_process(argv, {}, {}).output;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out.substr(out.rfind('\n') + 1);
}

// The metrics that ncu reports as unknown.
std::vector<std::string> unknown_metrics(const std::vector<std::string>& asked, const std::string& output) {
  std::vector<std::string> out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find("Failed to find metric") != std::string::npos || line.find("not found") != std::string::npos)
      for (const std::string& m : asked)
        if (line.find(m) != std::string::npos) out.push_back(m);
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ",") + n;
  return out;
}

// ncu's table without the columns that name the host, its folders and its processes.
std::string without_machine(const std::vector<NcuLaunch>& launches, const std::vector<std::string>& metrics) {
  std::string out = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"";
  for (const std::string& m : metrics) out += fmt::format(",\"{}\"", m);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const NcuLaunch& l = launches[i];
    auto commas = [](std::string shape) {
      std::replace(shape.begin(), shape.end(), 'x', ',');
      return shape;
    };
    out += fmt::format("\n\"{}\",\"{}\",\"({})\",\"({})\"", i, l.kernel, commas(l.block), commas(l.grid));
    for (const std::string& m : metrics) {
      auto value = l.metrics.find(m);
      out += value == l.metrics.end() ? std::string(",\"\"") : fmt::format(",\"{}\"", value->second);
    }
  }
  return out + "\n";
}

// Writes ncu.csv, times.jsonl and machine.json into `dir`.
void record(const fs::path& dir, const std::vector<std::string>& programs) {
  fs::path nvcc = find_nvcc(), ncu = find_ncu();
  if (nvcc.empty() || ncu.empty())
    throw Error(Exit::environment, fmt::format("there is no {} here", nvcc.empty() ? "nvcc" : "ncu"),
                "install the CUDA Toolkit with Nsight Compute, or compare with a recording (--ncu FILE)");
  std::error_code ec;
  fs::create_directories(dir, ec);
  TemporaryDir build("fidelity");
  std::vector<std::string> metrics = metrics_to_record();
  std::string csv, times, command;
  for (const std::string& name : programs) {
    tell("{}: nvcc, ", name);
    fs::path program = build.path() / name, log = build.path() / (name + ".csv");
    const fs::path source = folder() / (name + ".cu");
    must_run({nvcc.string(), "-O3", "-std=c++17", architecture(read_text(source)), "-lineinfo", source.string(), "-o",
              program.string()},
             600, "nvcc on " + name + ".cu");
    tell("times, ");
    times += must_run({program.string(), "--time"}, 300, name + " --time");
    tell("ncu\n");
    auto profile = [&] {
      std::vector<std::string> argv = {ncu.string(), "--clock-control", "none", "--csv",         "--page",
                                       "raw",        "--print-units",   "base", "--metrics",     joined(metrics),
                                       "--log-file", log.string(),      "-f",   program.string()};
      command = fmt::format("ncu --clock-control none --csv --page raw --print-units base --metrics {} PROGRAM",
                            joined(metrics));
      ProcessLimits limits;
      limits.seconds = 1200;
      return run_process(argv, {}, limits);
    };
    ProcessResult r = profile();
    std::string text = fs::exists(log) ? read_text(log) : "";
    if (auto unknown = unknown_metrics(metrics, r.output + text); !unknown.empty()) {
      for (const auto& m : unknown) {
        tell("  this ncu does not know {}\n", m);
        metrics.erase(std::remove(metrics.begin(), metrics.end(), m), metrics.end());
      }
      r = profile();
      text = fs::exists(log) ? read_text(log) : "";
    }
    if (r.exit_code != 0 || text.find("\"Kernel Name\"") == std::string::npos)
      throw Error(Exit::environment, fmt::format("ncu on {} failed:\n{}", name, last_lines(r.output + text)),
                  "may you read performance counters? See NVIDIA's page on ERR_NVGPUCTRPERM");
    csv += without_machine(parse_ncu_csv(text), metrics);
  }
  auto query = [](const char* field) {
    return first_line_of({"nvidia-smi", std::string("--query-gpu=") + field, "--format=csv,noheader", "--id=0"});
  };
  nlohmann::json machine = {{"device", query("name")},
                            {"driver", query("driver_version")},
                            {"clocks",
                             {{"sm_max", query("clocks.max.sm")},
                              {"memory_max", query("clocks.max.mem")},
                              {"sm_now", query("clocks.sm")},
                              {"memory_now", query("clocks.mem")}}},
                            {"nvcc", last_line_of({nvcc.string(), "--version"})},
                            {"ncu", last_line_of({ncu.string(), "--version"})},
                            {"flags", "-O3 -std=c++17 -lineinfo -arch=native, or the source's own"},
                            {"command", command},
                            {"date", utc_text(kDate)},
                            {"commit", kCommit}};
  write_text(dir / "ncu.csv", csv);
  write_text(dir / "times.jsonl", times);
  write_text(dir / "machine.json", machine.dump(2) + "\n");
}

// The emulator's counters and virtual times.
struct Emulated {
  std::vector<FidelityLaunch> launches;
  std::map<std::string, LaunchTime> times;
};

Emulated emulate(const std::vector<std::string>& programs) {
  Emulated out;
  TemporaryDir dir("fidelity");
  for (const std::string& name : programs) {
    tell("{}: ", name);
    fs::path source = folder() / (name + ".cu"), object = dir.path() / (name + ".o"), program = dir.path() / name;
    CompileFailure failure = compile_file(source, shown(source), object, {});
    if (failure.output.empty()) failure = link_program({object}, program, false, {});
    if (!failure.output.empty())
      throw Error(failure.environment ? Exit::environment : Exit::build, failure.output, "see the messages above");
    fs::path file = dir.path() / (name + ".json");
    std::string printed = must_run({"env", "RIDGE_COUNTERS=" + file.string(), program.string()}, 600, name);
    auto launches = emulator_launches(nlohmann::json::parse(read_text(file)));
    tell("{} launches\n", launches.size());
    out.launches.insert(out.launches.end(), launches.begin(), launches.end());
    out.times.merge(parse_times(printed));
    fs::remove(file);
  }
  return out;
}

void print_summary(const Fidelity& f) {
  fmt::print("{} launches; {} counter values: {} equal, {} known differences, {} unexplained\n", f.rows.size(),
             f.equal + f.known + f.unknown, f.equal, f.known, f.unknown);
  for (const std::string& p : f.problems) fmt::print("  {}\n", p);
  std::size_t shown_values = 0;
  for (const FidelityRow& r : f.rows)
    for (const FidelityValue& v : r.values)
      if (!v.equal() && v.reason.empty() && ++shown_values <= 40)
        fmt::print("  {} {}: emulator {:.0f}, hardware {:.0f}\n", r.name, v.metric, v.emulator, v.hardware);
  if (shown_values > 40) fmt::print("  ... and {} more\n", shown_values - 40);
  for (const KnownDifference& d : f.unused) fmt::print("  listed as different, but equal: {} {}\n", d.launch, d.metric);
  if (f.time.launches > 0)
    fmt::print("time: {} launches, median error {:.0f} %, median ratio {:.2f}, rank correlation {:.3f}\n",
               f.time.launches, 100 * f.time.median_error, f.time.median_ratio, f.time.rank_correlation);
}

}  // namespace

int bench_fidelity(const FidelityArguments& a) {
  std::vector<std::string> programs(std::begin(kPrograms), std::end(kPrograms));
  if (!a.programs.empty()) {
    programs.emplace_back(kOwnRecording);
    for (const std::string& p : a.programs)
      if (std::find(programs.begin(), programs.end(), p) == programs.end())
        throw Error(Exit::usage, "there is no program " + p, "they are: " + joined(programs));
    programs = a.programs;
    if (programs.size() > 1 && std::find(programs.begin(), programs.end(), kOwnRecording) != programs.end())
      throw Error(
          Exit::usage,
          fmt::format("{} has a recording and known differences of its own: it is compared alone", kOwnRecording),
          fmt::format("ridge bench fidelity {0}, and once more without {0}", kOwnRecording));
  }
  if (!a.record.empty()) {
    record(a.record, programs);
    return 0;
  }

  // The recording is the one that was named, else one made on this machine's GPU, else the repository's.
  fs::path csv = a.ncu, times = a.times, machine, out = a.out;
  const bool own = programs == std::vector<std::string>{kOwnRecording};
  if (csv.empty()) {
    std::string why;
    fs::path dir = folder() / (own ? "hopper_h200" : "h200");
    if (cuda_available(why) && !find_ncu().empty() && !find_nvcc().empty()) {
      dir = results_dir() / "fidelity";
      record(dir, programs);
      if (out.empty()) out = dir / "fidelity";
    } else if (out.empty() && (a.programs.empty() || own)) {  // the repository's tables have all programs
      out = dir;
    }
    csv = dir / "ncu.csv";
    if (!fs::exists(csv))
      throw Error(Exit::environment, "there is neither a GPU with ncu here nor a recording in " + shown(dir),
                  "name one with --ncu FILE.csv, or make one with --record DIR on a machine with a GPU");
  }
  if (times.empty() && fs::exists(csv.parent_path() / "times.jsonl")) times = csv.parent_path() / "times.jsonl";
  if (fs::exists(csv.parent_path() / "machine.json")) machine = csv.parent_path() / "machine.json";

  auto hardware = hardware_launches(parse_ncu_csv(read_text(csv)));
  auto measured = times.empty() ? std::map<std::string, LaunchTime>() : parse_times(read_text(times));
  fs::path toml = folder() / (own ? "hopper_differences.toml" : "differences.toml");
  auto differences = fs::exists(toml) ? load_differences(read_text(toml), shown(toml), host_compiler().name)
                                      : std::vector<KnownDifference>();
  nlohmann::json about = {{"ridge", fmt::format("{} ({})", kVersion, kCommit)},
                          {"compiler", host_compiler().name},
                          {"date", utc_text(kDate)},
                          {"command", own ? "ridge bench fidelity hopper" : "ridge bench fidelity"}};
  if (!machine.empty()) about["recording"] = nlohmann::json::parse(read_text(machine));

  Emulated emulated = emulate(programs);
  Fidelity f =
      compare(emulated.launches, hardware, emulated.times, measured, std::move(differences), a.programs.empty() || own);
  if (!out.empty()) {
    write_text(out.string() + ".md", fidelity_markdown(f, about));
    write_text(out.string() + ".json", fidelity_json(f, about).dump(1) + "\n");
    fmt::print("written: {}.md and .json\n", shown(out));
  }
  print_summary(f);
  return static_cast<int>(f.passed() ? Exit::passed : Exit::failed);
}

}  // namespace ridge
