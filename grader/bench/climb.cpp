#include "grader/bench/climb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "grader/base/error.hpp"
#include "grader/lab/header_line.hpp"

namespace ridge {

using nlohmann::json;

namespace {

// The recorded counters of the emulator: those that depend on neither compiler nor machine.
constexpr const char* kCounters[] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "ridge__block_barriers.sum",
};
// Where a step has any.
constexpr const char* kMoreCounters[] = {
    "ridge__sectors_bulk_op_ld.sum",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
    "sm__inst_executed_pipe_tensor_op_gmma.sum",
};

json counts_json(const TaskResult& t) {
  json counters;
  std::uint64_t launches = 0;
  for (const char* name : kCounters) {
    std::uint64_t sum = 0;
    for (const auto& k : t.kernels)
      if (auto at = k.counters.find(name); at != k.counters.end()) sum += at->second;
    counters[name] = sum;
  }
  for (const char* name : kMoreCounters)
    for (const auto& k : t.kernels)
      if (auto at = k.counters.find(name); at != k.counters.end())
        counters[name] = counters.value(name, std::uint64_t{0}) + at->second;
  for (const auto& k : t.kernels) launches += k.launches;
  json j = {{"counters", counters},
            {"launches", launches},
            {"sectors_over_ideal", t.roofline->bytes / t.roofline->bytes_ideal},
            {"timeline", nullptr}};
  // The task is judged in virtual time. The goal has no value while it waits for another one.
  if (t.timeline)
    for (const auto& g : t.goals)
      if (g.metric == "virtual_time_over_bound")
        j["timeline"] = {{"seconds", t.timeline->seconds},
                         {"virtual_time_over_bound", g.value ? json(*g.value) : json()},
                         {"launches", t.timeline->launches}};
  return j;
}

json about(const Step& s, const Task& task) {
  return {{"file", s.file.generic_string()},
          {"task", s.task},
          {"step", s.number > 0 ? json(s.number) : json(nullptr)},
          {"idea", s.idea},
          {"needs", s.needs},
          {"baseline", task.baseline},
          {"case", nullptr},
          {"timing", nullptr},
          {"counts", nullptr}};
}

}  // namespace

Step parse_step(const std::string& line, const fs::path& file) {
  static constexpr std::string_view keys[] = {"replaces", "task", "step", "idea", "needs"};  // in this order
  const auto fields = header_fields(line);
  bool complete = fields.size() == 4 || fields.size() == 5;
  for (std::size_t i = 0; complete && i < fields.size(); ++i)
    complete = fields[i].first == keys[i] && !fields[i].second.empty();
  const std::string number = complete ? fields[2].second : "";
  const bool numbered = !number.empty() && number.size() <= 3 &&
                        std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!numbered)
    throw Error(Exit::usage, shown(file) + " does not say what step it is",
                "begin it with `// replaces: FILE.cu; task: TASK; step: 1; idea: ...`");
  return {file,
          fields[0].second,
          fields[1].second,
          std::stoi(number),
          fields[3].second,
          fields.size() == 5 ? fields[4].second : ""};
}

std::vector<Step> steps_of(const Lab& lab, const fs::path& dir) {
  std::vector<Step> steps;
  if (!fs::exists(dir / "steps")) return steps;
  for (const auto& entry : fs::directory_iterator(dir / "steps")) {
    if (entry.path().extension() != ".cu") continue;
    std::string line;
    std::ifstream in(entry.path());
    std::getline(in, line);
    steps.push_back(parse_step(line, fs::relative(entry.path(), dir)));
  }
  std::vector<Step> all;
  for (const Task& t : lab.tasks) {
    std::vector<Step> own;
    for (const Step& s : steps)
      if (s.task == t.id) own.push_back(s);
    if (own.empty()) continue;
    std::sort(own.begin(), own.end(), [](const Step& a, const Step& b) { return a.number < b.number; });
    all.insert(all.end(), own.begin(), own.end());
    all.push_back({t.file, "", t.id, 0, "the solution", t.needs});
  }
  return all;
}

json step_json(const Step& step, const Task& task, const TaskResult& t) {
  json j = about(step, task);
  j["status"] = t.status == Status::skipped ? Status::skipped : Status::passed;
  j["reason"] = t.reason;
  for (const auto& c : t.checks) {
    const bool goal = std::any_of(t.goals.begin(), t.goals.end(), [&](const GoalResult& g) { return g.id == c.name; });
    if (c.passed || goal) continue;
    j["status"] = Status::failed;
    j["reason"] = c.name + ": " + c.message;
    return j;
  }
  if (!t.timings.empty()) {
    j["case"] = t.timings.back().name;
    j["timing"] = timing_json(t.timings.back());
    j["operation_unit"] = t.roofline->operation_unit;
  } else if (t.roofline) {  // counted in the last case
    j["case"] = t.cases.back().name;
    j["counts"] = counts_json(t);
  }
  return j;
}

json skipped_step_json(const Step& step, const Task& task, const std::string& reason) {
  json j = about(step, task);
  j["status"] = Status::skipped;
  j["reason"] = reason;
  return j;
}

}  // namespace ridge
