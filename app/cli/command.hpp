// How a command joins the command line. A command is one file of app/commands/, which adds its options, its help, its
// examples, and its action.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/check.hpp"

namespace ridge {

// Help texts that several commands, or a command and its stand-in, share.
constexpr const char* kLabHelp = "Lab: 01, 01_coalescing or coalescing";
constexpr const char* kTaskHelp = "Task (default: the next that has not passed)";
constexpr const char* kClusterHelp = "Grade a class through Slurm or Kubernetes";
constexpr const char* kSubmitHelp = "Hand your work in: checks, packs, and puts it into the course's folder";

class Commands {
 public:
  // `words` is the command line, beginning with the program's name.
  Commands(CLI::App& app, std::vector<std::string> words) : app_(app), words_(std::move(words)) {}

  // Adds a command of the program. `examples` are whole lines at the end of its help; where they are empty, the help
  // ends with the program's own examples.
  CLI::App* add(const std::string& name, const std::string& what, const std::string& examples = "");

  // Sets what `command` does; `action` returns the exit code. A command that has commands of its own acts only if none
  // of them was named.
  void set_action(CLI::App* command, std::function<int()> action);

  // The action of the command that was named; empty if there was none.
  const std::function<int()>& chosen() const { return chosen_; }
  const std::vector<std::string>& words() const { return words_; }
  const CLI::App& app() const { return app_; }

 private:
  CLI::App& app_;
  std::vector<std::string> words_;
  std::function<int()> chosen_;
};

// Adds --backend; no value stands for auto, which is the default.
void add_backend_option(CLI::App& command, std::optional<lab::Backend>& backend);

}  // namespace ridge
