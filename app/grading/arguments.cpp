#include "app/grading/arguments.hpp"

#include "app/cli/command.hpp"

namespace ridge {

void add_grading_options(CLI::App& command, GradeArguments& a) {
  command.add_option("lab", a.lab, kLabHelp)->required();
  command.add_option("--submission", a.submission, "Folder with the lab's files (default: work/NN_name)");
  command.add_option("--wrong", a.wrong,
                     "A wrong solution by its name (docs/misconceptions.md), over --submission or the reference");
  command.add_option("--replace", a.replace, "File of wrong/ that stands in for the one it names");
  add_backend_option(command, a.backend);
  command.add_option("--task", a.task, "Only this task");
  command.add_option("--json", a.json, "Also write the result to this file");
  command.add_option("--junit", a.junit, "The same as JUnit XML");
  command.add_option("--gradescope", a.gradescope, "The same as Gradescope's results.json");
  command.add_option("--prairielearn", a.prairielearn, "The same as PrairieLearn's results.json");
  command.add_flag("--autolab", a.autolab, "Print what Autolab reads, and nothing else");
  command
      .add_option("--time-limit", a.time_limit, "Seconds that one run may take (default: 10, with GCC 40, grade 60)")
      ->check(CLI::PositiveNumber);
}

}  // namespace ridge
