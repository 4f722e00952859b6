#include <fmt/format.h>

#include "climb.hpp"
#include "statistics.hpp"

namespace ridge {

using nlohmann::json;

namespace {

std::string step_cell(const json& s) {
  const std::string file = s.at("file");
  return s.at("step").is_null() ? fmt::format("[solution]({})", file)
                                : fmt::format("[{}]({})", s.at("step").get<int>(), file);
}

bool measured(const json& s) { return s.at("status") == "passed" && !s.at("case").is_null(); }

double seconds_of(const json& s) { return median(s.at("timing").at("submission_s").get<std::vector<double>>()); }

std::string time_text(double s) {
  return s >= 1e-3 ? fmt::format("{:.3g} ms", s * 1e3) : fmt::format("{:.3g} us", s * 1e6);
}

constexpr const char* kTimedHead =
    "| step | idea | time | rate | ratio | of the roof | gain |\n|---|---|---|---|---|---|---|\n";
constexpr const char* kCountedHead =
    "| step | idea | sectors over ideal | sectors loaded | shared wavefronts | of them conflicts | barriers | virtual "
    "time |\n|---|---|---|---|---|---|---|---|\n";

// `before`: seconds of the step before; 0 for none.
std::string timed_cells(const json& s, double before) {
  const json& t = s.at("timing");
  const double seconds = seconds_of(s);
  const std::string rate = s.at("operation_unit") == "flop"
                               ? fmt::format("{:.3g} TFLOP/s", t.at("operations").get<double>() / seconds / 1e12)
                               : fmt::format("{:.0f} GB/s", t.at("bytes").get<double>() / seconds / 1e9);
  return fmt::format(
      " {} | {} | {:.3f} | {} | {} |\n", time_text(seconds), rate, t.at("ratio").at("median").get<double>(),
      t.at("floor_s").is_null() ? "-" : fmt::format("{:.1f}%", 100 * t["floor_s"].get<double>() / seconds),
      before > 0 ? fmt::format("{:.2f} x", before / seconds) : "-");
}

std::string counted_cells(const json& s) {
  const json& c = s.at("counts");
  auto count = [&](const std::string& name) { return c.at("counters").at(name).get<std::uint64_t>(); };
  auto shared = [&](const std::string& name) { return count(name + "_ld.sum") + count(name + "_st.sum"); };
  return fmt::format(" {:.2f} | {} | {} | {} | {} | {} |\n", c.at("sectors_over_ideal").get<double>(),
                     count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
                     shared("l1tex__data_pipe_lsu_wavefronts_mem_shared_op"),
                     shared("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op"), count("ridge__block_barriers.sum"),
                     time_text(c.at("virtual_s").get<double>()));
}

// Of one task; empty where the record has no step of it.
std::string task_table(const json& record, const std::string& task, bool timed) {
  std::string rows, name, baseline, skipped;
  double before = 0;
  for (const json& s : record.at("steps")) {
    if (s.at("task") != task) continue;
    rows += fmt::format("| {} | {} |", step_cell(s), s.at("idea").get<std::string>());
    if (!measured(s)) {
      skipped = s.at("reason");
      rows += " " + s.at("status").get<std::string>() + (timed ? " | | | | |\n" : " | | | | | |\n");
      continue;
    }
    name = s.at("case");
    baseline = s.at("baseline");
    rows += timed ? timed_cells(s, before) : counted_cells(s);
    if (timed) before = seconds_of(s);
  }
  if (rows.empty()) return {};
  if (name.empty()) return fmt::format("\n### {}\n\nNot run here: {}.\n", task, skipped);
  return fmt::format("\n### {}: {}{}\n\n", task, name, timed ? ", against " + baseline : "") +
         (timed ? kTimedHead : kCountedHead) + rows;
}

std::string section(const Lab& lab, const ClimbRecord& r) {
  const json& device = r.json.at("device");
  const bool timed = r.json.at("backend") == "cuda";
  const std::string number = lab.name.substr(0, 2), small = r.json.at("mode") == "check" ? " --check" : "";
  std::string out = fmt::format("\n## {}\n\n", device.at("name").get<std::string>());
  if (timed)
    out += fmt::format(
        "`ridge bench --steps{} --lab {}` on such a GPU repeats it. Recorded in [{}](../../{}): {}, driver {}, {}, "
        "commit {}.\nRatio: the time of the vendor's way over that of the step, in turn in one session. Of the roof: "
        "the least time that\nthis machine, as measured, allows for the work, over the time. Gain: over the step "
        "before.\n",
        small, number, r.path, r.path, r.json.at("date").get<std::string>(), device.at("driver").get<std::string>(),
        r.json.at("compiler").at("name").get<std::string>(), r.json.at("ridge").at("commit").get<std::string>());
  else
    out += fmt::format(
        "`ridge bench --steps{} --lab {} --backend cpu` repeats it on any machine. Recorded in [{}](../../{}). Counts "
        "are exact;\nvirtual time is a model's, of a device as the profile {} says, at these small sizes.\n",
        small, number, r.path, r.path, device.at("profile").get<std::string>());
  for (const Task& t : lab.tasks) out += task_table(r.json, t.id, timed);
  return out;
}

}  // namespace

std::string climb_page(const Lab& lab, const std::vector<ClimbRecord>& records) {
  std::string out = fmt::format(
      "# {}: the climb\n\nEach file of `steps/` stands in for one file of the solution and adds one idea to the step "
      "before it. `ridge bench\n--tables` makes this page from the records that it names.\n",
      lab.title);
  for (const ClimbRecord& r : records) out += section(lab, r);
  return out;
}

}  // namespace ridge
