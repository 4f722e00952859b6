// How the commands of `ridge cluster` join the command line.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/cli/command.hpp"

namespace ridge::cluster {

class Registry {
 public:
  explicit Registry(Commands& ridge)
      : ridge_(ridge),
        top_(ridge.add("cluster", kClusterHelp,
                       "  ridge cluster init\n"
                       "  ridge cluster grade --lab 03 --submissions DIR --roster roster.csv\n"
                       "  ridge cluster export --lab total")) {
    top_->require_subcommand(1);
  }

  // Returns the command, and the arguments that its action gets, for the caller to bind to options. `example`: what
  // stands behind "ridge cluster" and the name; null: none.
  template <class A>
  std::pair<CLI::App*, A*> add(const std::string& name, const std::string& what, const char* example,
                               std::function<int(const A&)> action) {
    CLI::App* command = top_->add_subcommand(name, what);
    if (example != nullptr) command->footer("Examples:\n  ridge cluster " + name + example);
    auto arguments = std::make_shared<A>();
    ridge_.set_action(command, [arguments, action = std::move(action)] { return action(*arguments); });
    return {command, arguments.get()};
  }
  // The same for a command that reads course.toml.
  template <class A>
  std::pair<CLI::App*, A*> add_with_course(const std::string& name, const std::string& what, const char* example,
                                           std::function<int(const A&)> action) {
    const auto made = add<A>(name, what, example, std::move(action));
    made.first->add_option("--course", made.second->course, "course.toml (default: RIDGE_COURSE, else here or above)");
    return made;
  }

 private:
  Commands& ridge_;
  CLI::App* top_;
};

// One file each.
void add_grading(Registry& cluster);  // grade, intake, resume, cancel
void add_status(Registry& cluster);
void add_decisions(Registry& cluster);  // regrade, extend, override
void add_reading(Registry& cluster);    // export, report, estimate
void add_similar(Registry& cluster);
void add_machines(Registry& cluster);  // doctor, preflight
void add_keeping(Registry& cluster);   // backup, restore, readmit, init
void add_forget(Registry& cluster);
void add_array_task(Registry& cluster);
void add_submit(Commands& ridge);

}  // namespace ridge::cluster
