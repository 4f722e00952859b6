#include "grader/measure/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/base/statistics.hpp"
#include "grader/machine/nvml.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

using nlohmann::json;

constexpr const char* kCalibrationSchema = "ridge.calibration/1";

std::string must_run(const std::vector<std::string>& argv, const fs::path& dir, const std::string& what) {
  ProcessLimits limits;
  limits.seconds = 180;
  limits.output_bytes = 1 << 20;
  ProcessResult r = run_process(argv, dir, limits);
  if (r.exit_code == 0 && !r.timed_out) return r.output;
  throw Error(Exit::environment,
              what + (r.timed_out ? " took more than 180 s" : " failed:\n" + r.output.substr(0, 2000)),
              "run `ridge doctor`; nvidia-smi says whether the GPU is well");
}

}  // namespace

std::optional<MeasuredCeiling> parse_ceiling(const std::string& line) {
  json j = json::parse(line, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  try {
    MeasuredCeiling c;
    c.id = j.at("id");
    c.kind = j.at("kind");
    c.name = j.at("name");
    c.unit = j.at("unit");
    c.method = j.at("method");
    std::vector<double> values = j.at("values");
    if (values.empty()) return std::nullopt;
    c.value = median(values);
    // The middle nine tenths: the first repetition after a pause and a single hiccup are no spread of the machine.
    std::sort(values.begin(), values.end());
    const std::size_t cut = values.size() / 20;
    c.low = values[cut];
    c.high = values[values.size() - 1 - cut];
    return c;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

Calibration calibrate(const Device& device, const std::function<void(const std::string&)>& progress, bool quick) {
  const double start = now();
  DeviceInfo info = device.info();
  fs::path nvcc = find_nvcc();
  if (nvcc.empty())
    throw Error(Exit::environment, "no nvcc found on PATH, in CUDA_HOME or in /usr/local/cuda",
                "install the CUDA Toolkit, or load its module");
  TemporaryDir dir("calibrate");
  // Hopper's matrix instructions are in sm_90a only, which `native` does not name.
  std::string arch = info.compute == "9.0" ? "-gencode=arch=compute_90a,code=sm_90a" : "-arch=native";
  std::vector<std::string> argv = {nvcc.string(), "-O3", "-std=c++17", arch,
                                   "-t",          "0",   "-o",         (dir.path() / "calibrate").string()};
  for (const auto& entry : fs::directory_iterator(root_dir() / "runtime/ceilings/kernels"))
    if (entry.path().extension() == ".cu") argv.push_back(entry.path().string());
  progress("compiling");
  must_run(argv, dir.path(), "nvcc");
  progress("measuring");
  std::vector<std::string> measure = {(dir.path() / "calibrate").string()};
  if (quick) measure.push_back("--quick");
  std::istringstream lines(must_run(measure, dir.path(), "the measurement"));
  GpuState state = GpuMonitor(info.uuid).read();
  Calibration c;
  c.device = info.name;
  c.uuid = info.uuid;
  c.driver = info.driver;
  c.time = utc_text(kDateAndTime);
  c.ridge = fmt::format("{} ({})", kVersion, kCommit);
  c.sm_mhz = state.sm_mhz;
  c.temperature_c = state.temperature_c;
  c.l2_bytes = info.l2_bytes;
  for (std::string line; std::getline(lines, line);)
    if (auto ceiling = parse_ceiling(line)) c.ceilings.push_back(*ceiling);
  c.seconds = now() - start;
  if (!c.known()) throw Error(Exit::environment, "the measurement printed no ceiling", "run `ridge doctor`");
  return c;
}

std::string calibration_text(const Calibration& c) {
  json j = {{"schema", kCalibrationSchema}, {"device", c.device},       {"uuid", c.uuid},
            {"driver", c.driver},           {"time", c.time},           {"ridge", c.ridge},
            {"seconds", c.seconds},         {"sm_mhz", c.sm_mhz},       {"temperature_c", c.temperature_c},
            {"l2_bytes", c.l2_bytes},       {"ceilings", json::array()}};
  for (const auto& m : c.ceilings)
    j["ceilings"].push_back({{"id", m.id},
                             {"kind", m.kind},
                             {"name", m.name},
                             {"unit", m.unit},
                             {"method", m.method},
                             {"value", m.value},
                             {"low", m.low},
                             {"high", m.high}});
  return j.dump(1) + "\n";
}

std::optional<Calibration> parse_calibration(const std::string& text) {
  json j = json::parse(text, nullptr, false);
  if (!j.is_object() || j.value("schema", json()) != kCalibrationSchema) return std::nullopt;
  try {
    Calibration c;
    c.device = j.at("device");
    c.uuid = j.at("uuid");
    c.driver = j.at("driver");
    c.time = j.at("time");
    c.ridge = j.at("ridge");
    c.seconds = j.at("seconds");
    c.sm_mhz = j.at("sm_mhz");
    c.temperature_c = j.at("temperature_c");
    c.l2_bytes = j.at("l2_bytes");
    for (const auto& m : j.at("ceilings"))
      c.ceilings.push_back({m.at("id"), m.at("kind"), m.at("name"), m.at("unit"), m.at("method"), m.at("value"),
                            m.at("low"), m.at("high")});
    return c;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

fs::path calibration_file(const DeviceInfo& device) {
  std::string name;
  for (char c : device.name + "-" + device.uuid) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return results_dir().parent_path() / "calibration" / (name + ".json");
}

Calibration stored_calibration(const DeviceInfo& device) {
  std::ifstream in(calibration_file(device), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto c = parse_calibration(text);
  return c && c->uuid == device.uuid && c->driver == device.driver ? *c : Calibration{};
}

fs::path store_calibration(const Calibration& calibration, const DeviceInfo& device) {
  fs::path file = calibration_file(device);
  write_durably(file, calibration_text(calibration));
  return file;
}

std::vector<ProfileCeiling> ceilings_of(const Calibration& calibration, const Profile& profile) {
  if (!calibration.known()) return profile.ceilings;
  std::vector<ProfileCeiling> all;
  // The links to the host and one-way traffic are no roofs over a kernel.
  static const std::set<std::string> kNoRoofs = {"memcpy", "read", "write", "h2d", "d2h", "nvlink"};
  for (const auto& m : calibration.ceilings) {
    if (m.kind == "latency" || m.unit.empty() || kNoRoofs.count(m.id) != 0) continue;
    std::string source = fmt::format("measured {} on this device: {}", calibration.time.substr(0, 10), m.method);
    all.push_back({m.id == "copy" ? "hbm" : m.id, m.kind, m.name, m.unit, source, m.value});
  }
  // Device memory first: readers hold tasks against the first of each kind.
  std::stable_partition(all.begin(), all.end(), [](const ProfileCeiling& c) { return c.id == "hbm"; });
  for (const auto& p : profile.ceilings)
    if (std::none_of(all.begin(), all.end(), [&](const ProfileCeiling& c) { return c.id == p.id; })) all.push_back(p);
  return all;
}

std::string with_unit(double value, const std::string& unit) {
  if (unit == "s") return fmt::format("{:.2f} us", value * 1e6);
  if (unit == "B/s") return fmt::format("{:.0f} GB/s", value / 1e9);
  std::string what = unit == "flop/s" ? "TFLOP/s" : unit == "op/s" ? "TOP/s" : "T" + unit;
  return fmt::format("{:.1f} {}", value / 1e12, what);
}

std::string calibration_table(const Calibration& c) {
  std::string out;
  for (const auto& m : c.ceilings)
    out += fmt::format("| {} | {} | {} | {:.1f}% | {} |\n", m.id, m.name, with_unit(m.value, m.unit), 100 * m.spread(),
                       m.method);
  return out;
}

}  // namespace ridge
