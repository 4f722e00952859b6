#include "app/cli/command.hpp"

#include "grader/base/names.hpp"

namespace ridge {

CLI::App* Commands::add(const std::string& name, const std::string& what, const std::string& examples) {
  CLI::App* command = app_.add_subcommand(name, what);
  if (!examples.empty()) command->footer("Examples:\n" + examples);  // its own commands inherit the footer
  return command;
}

void Commands::set_action(CLI::App* command, std::function<int()> action) {
  // CLI11 calls back from the innermost command outwards, and the innermost is the one that the user named.
  command->callback([this, action = std::move(action)] {
    if (!chosen_) chosen_ = action;
  });
}

void add_backend_option(CLI::App& command, std::optional<lab::Backend>& backend) {
  command
      .add_option_function<std::string>(
          "--backend", [&backend](const std::string& word) { backend = parse<lab::Backend>(word); },
          "cpu (SIMT emulator), cuda (GPU) or auto")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->default_str("auto");
}

}  // namespace ridge
