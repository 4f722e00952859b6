// ridge check judges a student's work quickly, with small sizes and public inputs.
#include <fmt/format.h>

#include <cstdio>

#include "app/cli/command.hpp"
#include "app/grading/grading.hpp"

namespace ridge {

void add_check(Commands& ridge) {
  CLI::App* command = ridge.add("check", "Check your work quickly: small sizes, public inputs",
                                "  ridge check 01\n"
                                "  ridge check 01 --task transpose --note \"a tile of 32 x 33 has no conflicts\"\n"
                                "  ridge check 03 --submission solutions/03_warp_shuffle");
  auto a = std::make_shared<GradeArguments>();
  add_grading_options(*command, *a);
  command->add_option("--note", a->note, "Your hypothesis, for the work log (ridge log)");
  auto silent = std::make_shared<bool>(false);
  command->add_flag("--no-predict", *silent, "Do not ask what you expect before a task's first run");
  command->add_option("--live", a->live.url, "Also send the result to a `ridge live` at this address");
  command->add_option("--live-name", a->live.name, "Your name on its board (default: RIDGE_LIVE_NAME, else USER)");
  command->add_option("--live-token", a->live.token, "The room's token (default: RIDGE_LIVE_TOKEN)");
  command->add_option("--live-team", a->live.team, "Your team there (default: RIDGE_LIVE_TEAM)");
  auto steps = std::make_shared<bool>(false);
  command->add_flag("--steps", *steps, "Print each step as a line, and no report: for programs that start a check");
  ridge.set_action(command, [a, silent, steps] {
    a->predicts = !*silent;
    if (*steps) {
      a->quiet = true;
      a->progress = [](const std::string& text) {
        fmt::print("{}\n", text);
        std::fflush(stdout);
      };
    }
    return judge_as_asked(*a, lab::Mode::check);
  });
}

}  // namespace ridge
