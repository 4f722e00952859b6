#include <fmt/format.h>

#include <algorithm>

#include "grader/base/statistics.hpp"
#include "grader/bench/climb.hpp"

namespace ridge {

using nlohmann::json;

namespace {

std::string step_cell(const json& s) {
  const std::string file = s.at("file");
  return s.at("step").is_null() ? fmt::format("[solution]({})", file)
                                : fmt::format("[{}]({})", s.at("step").get<int>(), file);
}

bool measured(const json& s) { return s.at("status") == Status::passed && !s.at("case").is_null(); }

double seconds_of(const json& s) { return median(s.at("timing").at("submission_s").get<std::vector<double>>()); }

std::string time_text(double s) {
  return s >= 1e-3 ? fmt::format("{:.3g} ms", s * 1e3) : fmt::format("{:.3g} us", s * 1e6);
}

constexpr const char* kTimedHead =
    "| step | idea | time | rate | ratio | its interval | of the roof | gain |\n|---|---|---|---|---|---|---|---|\n";
constexpr const char* kCountedHead =
    "| step | idea | sectors over ideal | sectors loaded | sectors stored | shared wavefronts | of them conflicts | "
    "barriers |\n|---|---|---|---|---|---|---|---|\n";
constexpr const char* kVirtualHead =
    "| step | idea | virtual time | over bound | launches by the host | gain |\n|---|---|---|---|---|---|\n";
constexpr const char* kNoCells = " | | | | | |\n";

// `before`: seconds of the step before; 0 for none.
std::string timed_cells(const json& s, double before) {
  const json &t = s.at("timing"), &ratio = t.at("ratio");
  const double seconds = seconds_of(s);
  const std::string rate = s.at("operation_unit") == "flop"
                               ? fmt::format("{:.3g} TFLOP/s", t.at("operations").get<double>() / seconds / 1e12)
                               : fmt::format("{:.0f} GB/s", t.at("bytes").get<double>() / seconds / 1e9);
  return fmt::format(
      " {} | {} | {:.3f} | {:.3f} to {:.3f} | {} | {} |\n", time_text(seconds), rate, ratio.at("median").get<double>(),
      ratio.at("low").get<double>(), ratio.at("high").get<double>(),
      t.at("floor_s").is_null() ? "-" : fmt::format("{:.1f}%", 100 * t["floor_s"].get<double>() / seconds),
      before > 0 ? fmt::format("{:.2f} x", before / seconds) : "-");
}

std::string counted_cells(const json& s) {
  const json& c = s.at("counts");
  auto count = [&](const std::string& name) { return c.at("counters").at(name).get<std::uint64_t>(); };
  // Of bulk copies (TMA), which older records do not have.
  auto bulk = [&](const std::string& name) { return c.at("counters").value(name, std::uint64_t{0}); };
  auto shared = [&](const std::string& name) { return count(name + "_ld.sum") + count(name + "_st.sum"); };
  return fmt::format(" {:.2f} | {} | {} | {} | {} | {} |\n", c.at("sectors_over_ideal").get<double>(),
                     count("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") + bulk("ridge__sectors_bulk_op_ld.sum"),
                     count("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") +
                         bulk("l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"),
                     shared("l1tex__data_pipe_lsu_wavefronts_mem_shared_op"),
                     shared("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op"), count("ridge__block_barriers.sum"));
}

// The timeline of a step that is judged in virtual time, else null. Older records have no such member.
const json& timeline_of(const json& s) {
  static const json none;
  if (s.at("counts").is_null() || !s["counts"].contains("timeline")) return none;
  return s["counts"]["timeline"];
}

bool judged_in_virtual_time(const json& record) {
  const json& steps = record.at("steps");
  return std::any_of(steps.begin(), steps.end(), [](const json& s) { return !timeline_of(s).is_null(); });
}

std::string virtual_cells(const json& t, double before) {
  const double seconds = t.at("seconds");
  const json& over = t.at("virtual_time_over_bound");
  return fmt::format(" {} | {} | {:.0f} | {} |\n", time_text(seconds),
                     over.is_null() ? "-" : fmt::format("{:.2f}", over.get<double>()), t.at("launches").get<double>(),
                     before > 0 ? fmt::format("{:.2f} x", before / seconds) : "-");
}

// The table of one task; empty if the record has no step of it.
std::string task_table(const json& record, const std::string& task, bool timed) {
  std::string rows, notes, name, baseline, skipped;
  double before = 0;
  bool in_virtual_time = false;
  for (const json& s : record.at("steps"))
    in_virtual_time = in_virtual_time || (s.at("task") == task && !timeline_of(s).is_null());
  for (const json& s : record.at("steps")) {
    if (s.at("task") != task) continue;
    rows += fmt::format("| {} | {} |", step_cell(s), s.at("idea").get<std::string>());
    if (!measured(s) || (in_virtual_time && timeline_of(s).is_null())) {
      skipped = s.at("reason");
      rows += " " + s.at("status").get<std::string>() + (in_virtual_time ? " | | | |\n" : kNoCells);
      continue;
    }
    name = s.at("case");
    baseline = s.at("baseline");
    if (in_virtual_time) {
      rows += virtual_cells(timeline_of(s), before);
      before = timeline_of(s).at("seconds");
      continue;
    }
    rows += timed ? timed_cells(s, before) : counted_cells(s);
    if (!timed) continue;
    before = seconds_of(s);
    if (const std::string disturbed = s.at("timing").at("disturbed"); !disturbed.empty())
      notes += fmt::format("\nDisturbed: {} ({}).\n", s.at("file").get<std::string>(), disturbed);
  }
  if (rows.empty()) return {};
  if (name.empty()) return fmt::format("\n### {}\n\nNot run: {}.\n", task, skipped);
  return fmt::format("\n### {}: {}{}\n\n", task, name, timed ? ", against " + baseline : "") +
         (timed             ? kTimedHead
          : in_virtual_time ? kVirtualHead
                            : kCountedHead) +
         rows + notes;
}

std::string section(const Lab& lab, const ClimbRecord& r) {
  const json& device = r.json.at("device");
  const bool timed = r.json.at("backend") == lab::Backend::cuda;
  std::string out = fmt::format("\n## {}\n\nRecorded in [{}](../../{});\n`ridge bench --steps{} --lab {}",
                                device.at("name").get<std::string>(), r.path, r.path,
                                r.json.at("mode") == lab::Mode::check ? " --check" : "", lab.name.substr(0, 2));
  if (timed)
    out += fmt::format(
        "` on such a GPU repeats it.\n{}, driver {}, {}, commit {}.\n\nRatio: the baseline's time over the step's, "
        "measured in turn in one session, with its 95% bootstrap interval. Of the\nroof: the least time that this "
        "machine, as measured, allows for the work, over the step's time. Gain: the time of the\nstep before over "
        "the step's.\n",
        r.json.at("date").get<std::string>(), device.at("driver").get<std::string>(),
        r.json.at("compiler").at("name").get<std::string>(), r.json.at("ridge").at("commit").get<std::string>());
  else if (judged_in_virtual_time(r.json))
    out +=
        " --backend cpu` repeats it anywhere.\n\nVirtual time: the emulator's time for the measured case, on the "
        "device of its profile. Over bound: this time over the\nlab's bound, which holds for its goal. Launches: calls by which the host "
        "puts work on the device. Gain: the time of the step before over\nthe step's.\n";
  else
    out +=
        " --backend cpu` repeats it anywhere.\n\nThe counts of the measured case are exact: 32-byte sectors of "
        "global memory, wavefronts of shared memory, block\nbarriers. A count differs a little from run to run only if "
        "blocks wait for one another, as in a look-back. The ideal\ncounts the bytes that the task must read and "
        "write.\n";
  if (!r.json.value("complete", true)) out += "\n**The run was cut short: steps are missing.**\n";
  for (const Task& t : lab.tasks) out += task_table(r.json, t.id, timed);
  return out;
}

}  // namespace

std::string climb_page(const Lab& lab, const std::vector<ClimbRecord>& records) {
  std::string out = fmt::format(
      "# {}: the climb\n\nEach file of `steps/` stands in for one file of the solution and adds one idea to the step "
      "before it.\n`ridge bench --tables` makes this page from the records that it names.\n",
      lab.title);
  for (const ClimbRecord& r : records) out += section(lab, r);
  return out;
}

}  // namespace ridge
