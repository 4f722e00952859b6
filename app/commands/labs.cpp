// ridge labs lists the labs, the student's scores, and the next step.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/command.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"
#include "learn/attempts/attempts.hpp"

namespace ridge {

namespace {

int list_labs(bool as_json) {
  std::vector<Lab> labs = load_labs();
  nlohmann::json all = nlohmann::json::array();
  const Lab* next = nullptr;
  std::string table;
  bool gave_up = false;
  for (const Lab& lab : labs) {
    const loop::LabState own = loop::state_of(lab);
    bool started = own.started;
    std::string state = started ? "started" : "-";
    double points = 0, max = 0;
    if (!own.last_attempt.empty()) {
      points = own.points;
      max = own.max;
      state = fmt::format("{:.0f} / {:.0f}", points, max);
    }
    bool passed = own.passed();
    for (const auto& t : own.tasks) gave_up = gave_up || t.gave_up;
    if (!passed && next == nullptr) next = &lab;
    all.push_back({{"lab", lab.name},
                   {"title", lab.title},
                   {"minutes", lab.minutes},
                   {"backends", lab.backends},
                   {"started", started},
                   {"passed", passed},
                   {"points", points},
                   {"max", max}});
    std::string tasks;
    for (const auto& t : own.tasks) tasks += (tasks.empty() ? "" : ", ") + t.id + (t.gave_up ? "*" : "");
    table += fmt::format("  {:<22} {:<28} {:>4} min   {:<10}  {}\n", lab.name, lab.title, lab.minutes, state, tasks);
  }
  if (as_json) {
    fmt::print("{}\n", all.dump(1));
    return 0;
  }
  fmt::print("  {:<22} {:<28} {:>8}   {:<10}  {}\n{}", "lab", "title", "time", "last score", "tasks", table);
  if (gave_up) fmt::print("\n  * its solution was opened before it passed\n");
  if (next != nullptr) {
    std::string number = next->name.substr(0, next->name.find('_'));
    bool started = fs::exists(work_dir() / next->name);
    print_as_typed("\nNext: ./ridge {} {}\n", started ? "check" : "start", number);
  }
  return 0;
}

}  // namespace

void add_labs(Commands& ridge) {
  CLI::App* command =
      ridge.add("labs", "List the labs, your scores, and the next step", "  ridge labs\n  ridge labs --json");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "For programs");
  ridge.set_action(command, [json] { return list_labs(*json); });
}

}  // namespace ridge
