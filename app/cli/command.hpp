// How a command joins the command line. A command is one file of app/commands/, which adds its options, its help, its
// examples, and its action.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ridge {

// Help texts that several commands share.
constexpr const char* kLabHelp = "Lab: 01, 01_coalescing or coalescing";
constexpr const char* kTaskHelp = "Task (default: the next that has not passed)";

class Commands {
 public:
  // `words` is the command line, with the program's name first.
  Commands(CLI::App& app, std::vector<std::string> words) : app_(app), words_(std::move(words)) {}

  // Adds a command of the program. Its help ends with `examples`, whole lines; empty: with the program's own.
  CLI::App* add(const std::string& name, const std::string& what, const std::string& examples = "");

  // Says what `command` does and returns its exit code with. A command that has commands of its own acts only where
  // none of them was named.
  void set_action(CLI::App* command, std::function<int()> action);

  // The action of the command that was parsed; empty where none was named.
  const std::function<int()>& chosen() const { return chosen_; }
  const std::vector<std::string>& words() const { return words_; }
  const CLI::App& app() const { return app_; }

 private:
  CLI::App& app_;
  std::vector<std::string> words_;
  std::function<int()> chosen_;
};

// --backend, with the value that `backend` has as its default.
void add_backend_option(CLI::App& command, std::string& backend);

}  // namespace ridge
