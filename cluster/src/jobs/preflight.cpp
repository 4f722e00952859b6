#include "cluster/src/jobs/preflight.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/jobs/executor.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/measure/calibrate.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

namespace {

constexpr double kMostUtilisation = 5;      // percent
constexpr double kMostMemory = 1024;        // MiB; a driver's own use is lower
constexpr double kLeastOfReference = 0.90;  // repetitions differ by 2 percent, GPUs of one kind by a little more
constexpr double kLeastOfClocks = 0.90;     // of the maximum clock
constexpr int kExitSkipped = 77;
constexpr std::int64_t kMeasuredForSeconds = 3600;
// NVML's clock event reasons: hardware slowdown, thermal slowdowns, and the power brake.
constexpr unsigned long long kSlow = 0x8 | 0x20 | 0x40 | 0x80;

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all = split(line, ',');
  for (std::string& part : all) part = trimmed(part);
  return all;
}

// False for "[N/A]", "[Not Supported]" and other texts that are not numbers.
bool number(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

std::string ask_smi(const std::string& query, std::string& why) {
  std::vector<std::string> argv = {"nvidia-smi", query, "--format=csv,noheader,nounits"};
  if (const std::string own = environment("CUDA_VISIBLE_DEVICES"); !own.empty()) argv.insert(argv.end(), {"-i", own});
  ProcessResult r = run_process(argv, "/", {.seconds = 20});
  if (!r.started || r.exit_code == 127)
    why = "no nvidia-smi here";
  else if (r.exit_code != 0)
    why = "nvidia-smi " + (r.timed_out ? std::string("hangs") : "fails: " + capped(printable(r.output), 200));
  return why.empty() ? r.output : "";
}

Calibration read_calibration(const std::string& file) {
  auto text = read_regular(fs::absolute(file), 1 << 20);
  auto c = text ? parse_calibration(*text) : std::nullopt;
  if (!c) throw Error(Exit::usage, shown(file) + " is no calibration", "`ridge calibrate --json FILE` writes one");
  return *c;
}

}  // namespace

std::vector<Gpu> read_smi(const std::string& gpus, const std::string& apps) {
  std::vector<Gpu> all;
  for (const std::string& line : split(gpus, '\n')) {
    const auto f = fields(line);
    if (f.size() < 8 || f[0].rfind("GPU-", 0) != 0) continue;
    Gpu g{f[0], printable(f[1]), {}};
    double v = 0, most = 0;
    if (number(f[2], v) && v > kMostUtilisation) g.problems.push_back(fmt::format("not idle: {:.0f} % in use", v));
    if (number(f[3], v) && v > kMostMemory)
      g.problems.push_back(fmt::format("not idle: {:.0f} MiB of memory in use", v));
    if (const auto reasons = std::strtoull(f[4].c_str(), nullptr, 16); (reasons & kSlow) != 0)
      g.problems.push_back(fmt::format("its clocks are held down (reasons {:#x})", reasons & kSlow));
    if (number(f[5], v) && v > 0) g.problems.push_back(fmt::format("{:.0f} uncorrected ECC errors", v));
    if (number(f[6], v) && number(f[7], most) && v < kLeastOfClocks * most)
      g.problems.push_back(fmt::format("its clock is set to {:.0f} MHz, of {:.0f}", v, most));
    all.push_back(g);
  }
  for (const std::string& line : split(apps, '\n')) {
    const auto f = fields(line);
    for (Gpu& g : all)
      if (f.size() >= 2 && f[0] == g.uuid)
        g.problems.push_back("not idle: process " + printable(f[1]) + " computes there");
  }
  return all;
}

std::vector<std::string> slower(const Calibration& measured, const Calibration& reference) {
  std::vector<std::string> problems;
  int compared = 0;
  for (const char* id : {"copy", "bf16", "tf32", "fp16"}) {
    const MeasuredCeiling *is = measured.find(id), *should = reference.find(id);
    if (should == nullptr) continue;
    ++compared;
    if (is == nullptr)
      problems.push_back(fmt::format("{} was not measured", id));
    else if (!(is->value >= kLeastOfReference * should->value))
      problems.push_back(fmt::format("{}: {:.0f} % of what was calibrated", id,
                                     should->value > 0 ? 100 * is->value / should->value : 0));
  }
  if (compared == 0) problems.push_back("the reference has neither a copy nor a matrix product");
  return problems;
}

int preflight(const PreflightArguments& a) {
  std::string why;
  const std::string gpus = ask_smi(std::string("--query-gpu=") + kSmiQuery, why);
  std::string apps, ignored;
  if (why.empty()) apps = ask_smi("--query-compute-apps=gpu_uuid,pid", ignored);
  std::vector<Gpu> all = read_smi(gpus, apps);
  if (all.empty()) {
    fmt::print("{}: {}\n", a.require ? "not fit" : "skipped", why.empty() ? "nvidia-smi shows no GPU" : why);
    return a.require ? static_cast<int>(Exit::environment) : kExitSkipped;
  }
  std::vector<std::string> problems;
  for (const Gpu& g : all)
    for (const std::string& p : g.problems) problems.push_back(g.uuid + ": " + p);
  auto mark = [&](const Gpu& g) { return fs::path(a.keep) / (g.uuid + ".measured"); };
  auto is_fresh = [&](const Gpu& g) {
    struct stat s {};
    return !a.keep.empty() && stat(mark(g).c_str(), &s) == 0 &&
           std::labs(wall_now() - s.st_mtime) < kMeasuredForSeconds;
  };
  std::string note = "copy and matrix products not measured: no --reference";
  if (!a.reference.empty() && problems.empty()) {
    const Calibration reference = read_calibration(a.reference);
    note = "copy and matrix products measured within the hour";
    if (!std::all_of(all.begin(), all.end(), is_fresh)) {
      TemporaryDir dir("preflight");
      std::string file = a.measured;
      if (file.empty()) {  // without --measured, measure the first GPU that this job sees
        file = (dir.path() / "measured").string();
        ProcessResult r =
            run_process({own_program(), "calibrate", "--quick", "--json", file}, dir.path(), {.seconds = 110});
        if (r.exit_code != 0 || !fs::exists(file))
          problems.push_back("it can't be measured: " + capped(printable(r.output), 300));
      }
      if (problems.empty())
        for (const std::string& p : slower(read_calibration(file), reference))
          problems.push_back(all[0].uuid + ": " + p);
      note = "copy and matrix products as calibrated";
    }
    if (problems.empty() && !a.keep.empty()) {
      make_folders(a.keep);
      std::error_code ec;
      for (const Gpu& g : all)
        if (!is_fresh(g)) fs::remove(mark(g), ec), publish(mark(g), date_text(wall_now()) + "\n");
    }
  }
  for (const std::string& p : problems) fmt::print("not fit: {}\n", p);
  if (problems.empty())
    fmt::print("fit: {} {}, idle, no memory errors, clocks free; {}\n", all.size(), all[0].name, note);
  return static_cast<int>(problems.empty() ? Exit::passed : Exit::environment);
}

}  // namespace ridge::cluster
