// ridge explain says what a metric or counter means, with the numbers of the last run. The meaning comes from
// docs/metrics.md.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/findings/metric_pages.hpp"

namespace ridge {

namespace {

using namespace loop;

// The counters that a metric is made of, and whether lines of global and of shared memory belong to it.
struct Parts {
  const char* metric;
  std::vector<const char*> counters;
  bool global, shared;
};
const std::vector<Parts>& parts() {
  static const std::vector<Parts> all = {
      {"sectors_over_ideal",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "ridge__ideal_sectors_global_op_ld.sum", "ridge__ideal_sectors_global_op_st.sum"},
       true,
       false},
      {"load_sectors_over_bound",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "ridge__sectors_bulk_op_ld.sum", "ridge__requests_local_op_ld.sum", "ridge__turns_constant.sum"},
       true,
       false},
      {"store_sectors_over_bound",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
        "ridge__requests_local_op_st.sum"},
       true,
       false},
      {"conflicts_over_bound",
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "smsp__sass_inst_executed_op_shared_ld.sum",
        "smsp__sass_inst_executed_op_shared_st.sum"},
       false,
       true},
      {"shared_requests_over_bound",
       {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum",
        "smsp__sass_inst_executed_op_shared_atom.sum", "ridge__requests_local_op_ld.sum",
        "ridge__requests_local_op_st.sum"},
       false,
       true},
      {"shared_wavefronts_over_bound",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "ridge__shared_wavefronts_atom.sum", "ridge__requests_local_op_ld.sum", "ridge__requests_local_op_st.sum"},
       false,
       true},
      {"barriers_over_bound", {"ridge__block_barriers.sum", "ridge__memory_barriers.sum"}, false, false},
      {"instructions_over_bound", {"ridge__warp_instructions.sum"}, false, false},
      {"idle_lanes_over_bound", {"ridge__warp_instructions.sum", "ridge__lane_instructions.sum"}, true, true},
      {"tail_over_bound", {"ridge__longest_thread_instructions.max", "ridge__lane_instructions.sum"}, true, true},
  };
  return all;
}

void show_line(const LineCount& l) {
  const bool global = l.op.rfind("global", 0) == 0;
  const double requests = static_cast<double>(std::max<std::uint64_t>(1, l.requests));
  fmt::print("      {:<20} {:<10} {:>9} requests", fmt::format("{}:{}", l.file, l.line), l.op, l.requests);
  if (global)
    fmt::print(", {:.1f} sectors each (ideal {:.1f})", static_cast<double>(l.sectors) / requests,
               static_cast<double>(l.ideal_sectors) / requests);
  else
    fmt::print(", {:.1f} wavefronts each, {:.1f} by conflicts", static_cast<double>(l.wavefronts) / requests,
               static_cast<double>(l.conflicts) / requests);
  if (l.lanes > 0) fmt::print(", {:.0f} lanes", static_cast<double>(l.lanes) / requests);
  if (l.lane_step && l.lane_step->first == l.lane_step->second)
    fmt::print(", {} bytes from lane to lane", l.lane_step->first);
  fmt::print("\n");
}

void on_last_run(const Lab& lab, const std::string& name, bool is_gate) {
  const LabState s = state_of(lab);
  const Parts* made_of = nullptr;
  for (const Parts& p : parts())
    if (p.metric == name) made_of = &p;
  std::vector<std::string> counters = {name};
  if (made_of != nullptr) counters.assign(made_of->counters.begin(), made_of->counters.end());
  const bool global = made_of != nullptr ? made_of->global : name.find("global") != std::string::npos;
  const bool shared = made_of != nullptr ? made_of->shared : name.find("shared") != std::string::npos;
  const char* op = name.find("_op_ld") != std::string::npos   ? "_ld"
                   : name.find("_op_st") != std::string::npos ? "_st"
                                                              : "";
  bool any = false;
  for (const TaskState& t : s.tasks) {
    if (!t.last) continue;
    std::string head = fmt::format("\nLast run of lab {}, task {}", number_of(lab), t.id);
    bool said = false;
    for (const GoalResult& g : t.last->goals)
      if (g.metric == name) fmt::print("{}: {}\n", head, goal_text(g)), said = any = true;
    if (made_of != nullptr && !said) continue;  // the task has no such goal
    for (const KernelCount& k : t.last->kernels) {
      std::string values;
      for (const std::string& c : counters)
        if (auto at = k.counters.find(c); at != k.counters.end())
          values += fmt::format("      {} = {}\n", c, at->second);
      if (values.empty()) continue;
      if (!said) fmt::print("{}\n", head), said = any = true;
      fmt::print("    kernel {}, {} launch{}\n{}", printable(k.kernel), k.launches, k.launches == 1 ? "" : "es",
                 values);
      int lines = 0;
      for (const LineCount& l : k.lines) {
        const bool of_global = l.op.rfind("global", 0) == 0;
        if ((of_global ? !global : !shared) || l.file.empty() || l.op.find(op) == std::string::npos) continue;
        if (++lines <= 12) show_line(l);
      }
    }
  }
  for (const TaskState& t : s.tasks) {
    if (!t.last) continue;
    for (const CheckResult& c : t.last->checks)
      if (c.name == name && !c.passed)
        fmt::print("\nLast run of lab {}, task {}: failed\n{}", number_of(lab), t.id, wrapped(printable(c.message), 2)),
            any = true;
  }
  if (!any && is_gate) {
    fmt::print("\nIn the last runs of lab {} it did not fail.\n", number_of(lab));
    return;
  }
  if (!any)
    fmt::print("\nThe last runs of lab {} have no such number{}.\n", number_of(lab),
               s.last_attempt.empty() ? ": it was not checked yet" : "");
}

int explain_metric(const std::string& key, const std::string& lab_key) {
  std::vector<MetricPage> pages = metric_pages();
  if (key.empty()) {
    for (const MetricPage& p : pages) fmt::print("{}{}\n", p.name, p.backend.empty() ? "" : " (" + p.backend + ")");
    print_as_typed("\n./ridge explain NAME tells what one means, on your last run's numbers.\n");
    return 0;
  }
  std::optional<Lab> lab;
  if (!lab_key.empty()) lab = find_lab(lab_key);
  std::string name = key;
  // A goal's own name ("sectors") stands for its metric. The lab is the one that was named, else the last one checked.
  if (!lab) {
    std::string newest;
    for (const Lab& l : load_labs())
      if (const LabState s = state_of(l); s.last_time > newest) newest = s.last_time, lab = l;
  }
  if (lab)
    for (const Task& t : lab->tasks)
      for (const Goal& g : t.goals)
        if (g.id == key) name = g.metric;
  // Checks of this lab alone are explained in a table of its lesson.
  if (lab)
    for (MetricPage& p : metric_pages(file_text(root_dir() / "labs" / lab->name / "README.md")))
      if (p.name == name && std::none_of(pages.begin(), pages.end(), [&](const auto& q) { return q.name == name; }))
        p.gate = true, pages.push_back(p);
  const MetricPage* page = nullptr;
  std::vector<std::string> names, near;
  for (const MetricPage& p : pages) {
    names.push_back(p.name);
    if (p.name == name) page = &p;
    if (p.name.find(name) != std::string::npos) near.push_back(p.name);
  }
  if (page == nullptr && near.size() == 1)
    for (const MetricPage& p : pages)
      if (p.name == near[0]) page = &p;
  if (page == nullptr) {
    if (near.empty())
      if (std::string one = nearest(name, names); !one.empty()) near = {one};
    throw Error(Exit::usage, fmt::format("docs/metrics.md has no metric, counter or gate '{}'", key),
                near.empty() ? "./ridge explain lists them" : fmt::format("did you mean {}?", fmt::join(near, " or ")));
  }
  fmt::print("{}{}\n{}", page->name, page->better.empty() ? "" : "   better: " + page->better,
             wrapped(page->meaning, 2));
  if (lab) on_last_run(*lab, page->name, page->gate);
  return 0;
}

struct ExplainArguments {
  std::string metric, lab;
};

}  // namespace

void add_explain(Commands& ridge) {
  CLI::App* command = ridge.add("explain", "What a metric or counter means, on your last run's numbers",
                                "  ridge explain                   all names\n"
                                "  ridge explain conflicts_over_bound 01\n  ridge explain sectors 01");
  auto a = std::make_shared<ExplainArguments>();
  command->add_option("metric", a->metric, "Metric, counter, or a goal's name (none: lists them)");
  command->add_option("lab", a->lab, kLabHelp);
  ridge.set_action(command, [a] { return explain_metric(a->metric, a->lab); });
}

}  // namespace ridge
