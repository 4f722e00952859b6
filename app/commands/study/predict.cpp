// ridge predict lists a lab's predictions beside what was measured.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/questions/predictions.hpp"

namespace ridge {

namespace {

using namespace loop;

std::string standing(const Predicted& p) {
  if (!p.asked) return "not asked yet";
  if (!p.value) return "skipped";
  if (!p.measured)
    return fmt::format("{} predicted; not measured yet", p.is_choice() ? "\"" + p.answer + "\"" : p.answer);
  return comparison(p);
}

int list_predictions(const std::string& key) {
  const Lab lab = find_lab(key);
  const std::vector<Predicted> all = predictions_of(lab);
  if (all.empty()) {
    fmt::print("{} asks for no predictions.\n", lab.name);
    return 0;
  }
  print_as_typed("Predictions of lab {}. `./ridge check {}` asks before a task runs for the first time.\n",
                 number_of(lab), number_of(lab));
  for (const Predicted& p : all)
    fmt::print("\n{}{}", wrapped(fmt::format("{}: {}", p.prediction.task, p.prediction.ask), 2),
               wrapped("-> " + printable(standing(p)), 4));
  if (const std::string text = calibration_text(calibration(all)); !text.empty()) fmt::print("\n{}.\n", text);
  return 0;
}

}  // namespace

void add_predict(Commands& ridge) {
  CLI::App* command = ridge.add("predict", "Your predictions beside what was measured",
                                "  ridge predict 01\n"
                                "  ridge check 01                  asks before a task runs for the first time\n"
                                "  ridge check 01 --no-predict     does not ask");
  auto lab = std::make_shared<std::string>();
  command->add_option("lab", *lab, kLabHelp)->required();
  ridge.set_action(command, [lab] { return list_predictions(*lab); });
}

}  // namespace ridge
