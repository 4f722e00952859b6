// ridge solution shows a reference solution once the task has passed. A student who gives up sees it earlier, and the
// journal notes that.
#include <fmt/format.h>

#include <sstream>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "learn/attempts/attempts.hpp"

namespace ridge {

namespace {

using namespace loop;

// The lines from TASK(id) to END(id).
std::string region(const std::string& text, const std::string& task) {
  std::istringstream in(text);
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    inside = inside || line == "// TASK(" + task + ")";
    if (inside) out += line + "\n";
    if (line == "// END(" + task + ")") break;
  }
  return out.empty() ? text : out;
}

// Whether the task passed in any attempt so far, even if later changes broke it again.
bool ever_passed(const LabState& s, const std::string& task) {
  for (const TaskState& t : s.tasks)
    if (t.id == task && t.passed()) return true;
  for (const Event& e : journal(s.lab.name))
    for (const std::string& p : e.passed)
      if (p == task) return true;
  return false;
}

int show_solution(const std::string& key, const std::string& name, bool give_up) {
  const LabState s = state_of(find_lab(key));
  const Task& task = task_or_next(s, name);
  const std::string number = number_of(s.lab);
  const fs::path file = root_dir() / "solutions" / s.lab.name / task.file;
  std::error_code ec;
  if (!fs::is_regular_file(file, ec))
    throw Error(Exit::environment, fmt::format("this copy of the course has no solution of {}", s.lab.name),
                "ask whoever gave you the course");
  const bool opened = gave_up(journal(s.lab.name), task.id);
  if (!ever_passed(s, task.id) && !opened) {
    if (!give_up) {
      const int left = static_cast<int>(task.hints.size()) - hints_taken(journal(s.lab.name), task.id);
      throw Error(Exit::failed, fmt::format("task {} has not passed yet, so its solution stays closed", task.id),
                  left > 0
                      ? fmt::format("./ridge hint {} {} ({} hints left); `--give-up` opens it, and your log says so",
                                    number, task.id, left)
                      : "`--give-up` opens it, and your log says so");
    }
    add_event(s.lab.name, {"", "gave-up", task.id, "", ""});
  }
  fmt::print("// {}, a reference solution of {}\n{}", shown(file), task.id, region(file_text(file), task.id));
  const fs::path steps = root_dir() / "solutions" / s.lab.name / "steps";
  std::string climb;
  for (const auto& entry : fs::directory_iterator(steps, ec))
    if (file_text(entry.path()).find("task: " + task.id + ";") != std::string::npos) climb = shown(steps);
  if (!climb.empty()) fmt::print("// How it got there, step by step: {}, README.md beside it\n", climb);
  return 0;
}

struct SolutionArguments {
  std::string lab, task;
  bool give_up = false;
};

}  // namespace

void add_solution(Commands& ridge) {
  CLI::App* command = ridge.add("solution", "Show a reference solution, once the task has passed",
                                "  ridge solution 01 copy\n  ridge solution 01 gather --give-up");
  auto a = std::make_shared<SolutionArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("task", a->task, kTaskHelp);
  command->add_flag("--give-up", a->give_up, "Before it has passed; your log will say so");
  ridge.set_action(command, [a] { return show_solution(a->lab, a->task, a->give_up); });
}

}  // namespace ridge
