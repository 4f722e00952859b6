#include "grader/bench/bench_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/statistics.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/measure/calibrate.hpp"

namespace ridge {

using lab::Backend;
using nlohmann::json;

namespace {

std::string text_of(const json& j, const char* key) { return j.value(key, std::string("-")); }

// Those of all measured cases; a record with one has it in `timing` only.
std::vector<json> timings_of(const json& task) {
  std::vector<json> all;
  if (task.contains("timings"))
    for (const json& t : task["timings"]) all.push_back(t);
  else if (!task.at("timing").is_null())
    all.push_back(task["timing"]);
  return all;
}

std::string timed_row(const std::string& start, const json& task, const json& t) {
  const double seconds = median(t.at("submission_s").get<std::vector<double>>());
  const json& ratio = t.at("ratio");
  const bool flop = !task.at("roofline").is_null() && task["roofline"].at("operation_unit") == "flop";
  const auto turns = t.at("submission_s").size();
  const int calls = t.at("calls");
  return start +
         fmt::format(
             " {} | {} | {:.3f} | {:.3f} to {:.3f} | {:.4g} us | {} | {} | {} x {} to {} | {} |\n", t.value("case", ""),
             points_text(task.at("points"), task.at("max")), ratio.at("median").get<double>(),
             ratio.at("low").get<double>(), ratio.at("high").get<double>(), seconds * 1e6,
             flop ? fmt::format("{:.1f} TFLOP/s", t.at("operations").get<double>() / seconds / 1e12)
                  : fmt::format("{:.0f} GB/s", t.at("bytes").get<double>() / seconds / 1e9),
             t.at("floor_s").is_null() ? "-" : fmt::format("{:.1f}%", 100 * t["floor_s"].get<double>() / seconds),
             turns, (calls + 1) / 2, calls, t.at("disturbed").get<std::string>());
}

std::string counted_row(const std::string& start, const json& task) {
  std::string counts;
  for (const json& g : task.at("goals"))
    if (!g.at("value").is_null())
      counts += fmt::format("{}{} {:.3g}", counts.empty() ? "" : ", ", g.at("metric").get<std::string>(),
                            g["value"].get<double>());
  const std::string status = task.at("status");
  return start + fmt::format(" {} | {} |\n", points_text(task.at("points"), task.at("max")),
                             status == name_of(Status::skipped) ? "skipped: " + text_of(task, "reason")
                             : counts.empty()                   ? status
                                                                : counts);
}

std::string rows_of(const json& r) {
  const std::string lab = r.at("lab");
  std::string rows;
  for (const json& task : r.at("tasks")) {
    const std::string start = fmt::format("| [{}]({}.json) | {} |", lab, lab, task.at("id").get<std::string>());
    const std::vector<json> timings = timings_of(task);
    for (const json& t : timings) rows += timed_row(start, task, t);
    if (timings.empty() && r.at("backend") == Backend::cpu) rows += counted_row(start, task);
    if (timings.empty() && r.at("backend") != Backend::cpu)
      rows += start + fmt::format(" not measured: {} | | | | | | | | |\n", task.at("status").get<std::string>());
  }
  return rows;
}

// Tasks that a lab has now and had not when it was recorded, one line a lab; empty where there are none.
std::string missing_tasks(const std::map<std::string, json>& results) {
  std::string lines;
  for (const auto& [name, r] : results) {
    const fs::path dir = root_dir() / "labs" / name;
    if (!fs::exists(dir / "lab.toml")) continue;
    std::vector<std::string> missing;
    for (const Task& task : load_lab(dir).tasks)
      if (std::none_of(r.at("tasks").begin(), r.at("tasks").end(),
                       [&](const json& recorded) { return recorded.at("id") == task.id; }))
        missing.push_back(task.id);
    if (!missing.empty()) lines += fmt::format("- {}: {}\n", name, fmt::join(missing, ", "));
  }
  if (lines.empty()) return {};
  return "\nThese labs were recorded before they had the following tasks, and the points above are those of that "
         "time:\n\n" +
         lines;
}

// "1515 to 1980 MHz", over all turns of a result.
std::string range(const json& r, const char* key, const char* unit) {
  std::vector<double> all;
  for (const json& task : r.at("tasks"))
    for (const json& t : timings_of(task))
      for (double v : t.at("conditions").at(key)) all.push_back(v);
  if (all.empty()) return "not read";
  auto [low, high] = std::minmax_element(all.begin(), all.end());
  return fmt::format("{:.0f} to {:.0f} {}", *low, *high, unit);
}

std::string run_row(const json& r) {
  const json& device = r.at("device");
  const json& compiler = r.at("compiler");
  std::string row = fmt::format("| {} | {} | {} | {}, {} |", r.at("lab").get<std::string>(),
                                r.at("time").get<std::string>(), r.at("ridge").at("commit").get<std::string>(),
                                compiler.at("name").get<std::string>(), compiler.at("flags").get<std::string>());
  if (r.at("backend") == Backend::cpu) return row + fmt::format(" {} |\n", text_of(device, "profile"));
  const std::string nccl = device.contains("nccl") ? ", NCCL " + text_of(device, "nccl") : "";
  return row + fmt::format(" {}, {}{} | {} | {}, {}, {} |\n", text_of(device, "driver"), text_of(device, "runtime"),
                           nccl, text_of(device, "clocks"), range(r, "sm_mhz", "MHz"),
                           range(r, "temperature_c", "degrees C"), range(r, "power_w", "W"));
}

}  // namespace

std::string bench_page(const fs::path& dir) {
  std::map<std::string, json> results;  // by lab
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".json" || name.find(".steps.") != std::string::npos) continue;
    json j = json::parse(file_text(entry.path()), nullptr, false);
    if (j.is_discarded()) throw Error(Exit::usage, shown(entry.path()) + " is no JSON", "`ridge bench` writes it anew");
    if (!j.is_object() || j.value("schema", "") != "ridge.result/1") continue;
    const std::string lab = j.at("lab");
    results[lab] = std::move(j);
  }
  if (results.empty()) return {};
  const json& first = results.begin()->second;
  const bool timed = first.at("backend") == Backend::cuda;
  std::string out = fmt::format(
      "# {}\n\nMade by `ridge bench{}`, a lab at a time with `--lab`, of the files beside this one, which hold every "
      "figure\n(`ridge bench --tables` makes it again).\n\n",
      first.at("device").contains("gpus")
          ? fmt::format("{} x {}", text_of(first["device"], "gpus"), text_of(first["device"], "name"))
          : text_of(first.at("device"), "name"),
      first.at("mode") == lab::Mode::check ? " --check" : "");
  if (timed)
    out +=
        "Ratios are the vendor's time over the reference solution's, in turn in one session: median over the turns "
        "with its\n95% bootstrap interval. The floor is the least time that this machine, as measured, allows for the "
        "work.\n\n| lab | task | case | points | ratio | interval | a call | rate | floor / time | turns x calls | "
        "disturbed |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  else
    out += "| lab | task | points | counts |\n|---|---|---|---|\n";
  for (const auto& [lab, r] : results) out += rows_of(r);
  out += missing_tasks(results);
  out += "\n## Runs\n\n";
  out += timed ? "| lab | date | commit | compiler | driver, CUDA | clocks at the start, degrees C | SM clock, "
                 "temperature, power after the turns |\n|---|---|---|---|---|---|---|\n"
               : "| lab | date | commit | compiler | profile |\n|---|---|---|---|---|\n";
  for (const auto& [lab, r] : results) out += run_row(r);
  if (!fs::exists(dir / "calibration.json")) return out;
  std::optional<Calibration> machine = parse_calibration(file_text(dir / "calibration.json"));
  if (!machine)
    throw Error(Exit::usage, shown(dir / "calibration.json") + " is no calibration", "`ridge bench` writes it");
  return out +
         "\n## Ceilings\n\n`ridge calibrate`, medians of 20 with the spread of the middle nine tenths "
         "([calibration.json](calibration.json)):\n\n| id | what | measured | spread | how |\n|---|---|---|---|---|\n" +
         calibration_table(*machine);
}

}  // namespace ridge
