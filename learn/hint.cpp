// hint and solution: help in steps, each of which is noted down.
#include <fmt/format.h>

#include <sstream>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/commands.hpp"

namespace ridge::loop {

namespace {

const Task& task_or_next(const LabState& s, const std::string& task) {
  if (!task.empty()) return find_task(s.lab, task);
  const TaskState* next = next_task(s);
  return find_task(s.lab, next != nullptr ? next->id : s.lab.tasks.back().id);
}

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

// Passed in any attempt so far, also where later changes broke it again.
bool ever_passed(const LabState& s, const std::string& task) {
  for (const TaskState& t : s.tasks)
    if (t.id == task && t.passed()) return true;
  for (const Event& e : journal(s.lab.name))
    for (const std::string& p : e.passed)
      if (p == task) return true;
  return false;
}

}  // namespace

int hint(const std::string& key, const std::string& name, bool again) {
  const LabState s = state_of(find_lab(key));
  const Task& task = task_or_next(s, name);
  const int count = static_cast<int>(task.hints.size()),
            taken = std::min(hints_taken(journal(s.lab.name), task.id), count);
  const std::string number = number_of(s.lab);
  if (count == 0) {
    fmt::print("Lab {}, task {} has no hints.\n", number, task.id);
    return 0;
  }
  const bool all_shown = taken == count;
  const int first = again ? 0 : all_shown ? count - 1 : taken, last = again ? taken : std::min(taken + 1, count);
  if (again && taken == 0) {
    print_as_typed("No hint of task {} was shown yet: ./ridge hint {} {}\n", task.id, number, task.id);
    return 0;
  }
  for (int i = first; i < last; ++i)
    fmt::print("Lab {}, task {}, hint {} of {}:\n{}\n", number, task.id, i + 1, count,
               wrapped(task.hints[static_cast<std::size_t>(i)], 2));
  if (!again && !all_shown) add_event(s.lab.name, {"", "hint", task.id, "", ""});
  if (last < count)
    print_as_typed("{} more: ./ridge hint {} {}\n", count - last, number, task.id);
  else
    print_as_typed(
        "That was the last. The solution opens once the task passes; before that with\n"
        "  ./ridge solution {} {} --give-up\n",
        number, task.id);
  return 0;
}

int solution(const std::string& key, const std::string& name, bool give_up) {
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

}  // namespace ridge::loop
