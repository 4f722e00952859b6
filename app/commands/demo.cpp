// ridge demo grades the reference solutions on this machine and shows the scores.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/cli/command.hpp"
#include "app/grading/grading.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"

namespace ridge {

namespace {

int demo(bool full) {
  const std::vector<Lab> labs = load_labs();
  const bool gpu = gpu_usable();
  fmt::print("Grading {} of every lab's reference solution on {}.\n\n", full ? "all tasks" : "the first task",
             gpu ? "this GPU" : "the SIMT emulator (no GPU here)");
  Progress progress(true);
  int code = 0;
  for (const Lab& lab : labs) {
    const std::string title = fmt::format("  {:<22} {:<34} ", lab.name, lab.title);
    const fs::path solution = root_dir() / "solutions" / lab.name;
    if (!fs::exists(solution)) {
      fmt::print("{}skipped: this copy of the course has no solutions\n", title);
      continue;
    }
    GradeArguments a;
    a.lab = lab.name;
    a.submission = solution.string();
    a.quiet = true;
    a.progress = [&](const std::string& text) { progress.show(lab.name + ": " + text); };
    const lab::Backend backend = choose_backend(std::nullopt, lab);
    const auto first =
        std::find_if(lab.tasks.begin(), lab.tasks.end(), [&](const Task& t) { return t.points(backend) > 0; });
    if (!full && first != lab.tasks.end()) a.task = first->id;
    Result r;
    const int one = judge_as_asked(a, full ? lab::Mode::grade : lab::Mode::check, &r);
    progress.clear();
    if (one != 0) code = one;
    std::string rest = name_of(r.outcome);
    if (gpu && r.backend == lab::Backend::cpu)
      rest += fmt::format(" on the emulator (needs {} GPUs)", lab.least_gpus());
    for (const auto& t : r.tasks)
      if (t.status == Status::skipped) rest += fmt::format("; {} skipped: {}", t.id, t.reason);
    fmt::print("{}{:<14} {:>4.0f} / {:<4.0f} {:>6.1f} s   {}\n", title, a.task.empty() ? "all tasks" : a.task, r.points,
               r.max, r.build_seconds + r.run_seconds, rest);
    if (one != 0) fmt::print("{}", report(r, use_colour(stdout)));
    std::fflush(stdout);
  }
  print_as_typed("\nNext: ./ridge start 01, then ./ridge check 01\n");
  return code;
}

}  // namespace

void add_demo(Commands& ridge) {
  CLI::App* command = ridge.add("demo", "Grade a task of every lab's reference solution here and show the scores",
                                "  ridge demo\n  ridge demo --full");
  auto full = std::make_shared<bool>(false);
  command->add_flag("--full", *full, "All tasks, at grading size");
  ridge.set_action(command, [full] { return demo(*full); });
}

}  // namespace ridge
