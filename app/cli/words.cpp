#include "app/cli/words.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "learn/findings/metric_pages.hpp"

namespace ridge {

namespace {

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App* s) { return !s->get_name().empty() && !s->get_group().empty(); }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options())
    if (!o->get_lnames().empty() && !o->get_group().empty()) names.push_back("--" + o->get_lnames()[0]);
  return names;
}

}  // namespace

void complete(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string last = words.empty() ? "" : words.back();
  const std::string before = words.size() < 2 ? "" : words[words.size() - 2];
  std::vector<std::string> all;
  const CLI::App* sub = nullptr;
  if (words.size() > 1)
    for (const std::string& name : names_of(app))
      if (name == words[0]) sub = app.get_subcommand(name);
  auto takes = [&](const char* option) {
    for (const CLI::Option* o : sub->get_options())
      if (o->get_single_name() == option) return true;
    return false;
  };
  std::vector<Lab> labs;
  if (sub != nullptr) labs = load_labs();
  auto tasks = [&] {
    for (const Lab& lab : labs)
      for (const std::string& w : words)
        if (w == lab.name || w == lab.name.substr(0, 2))
          for (const Task& t : lab.tasks) all.push_back(t.id);
  };
  if (sub == nullptr && words.size() < 2) {
    all = names_of(app);
  } else if (sub == nullptr) {
  } else if (last.rfind('-', 0) == 0) {
    all = options_of(*sub);
  } else if (before == "--task") {
    tasks();
  } else if (before == "--backend") {
    all = {"auto", "cpu", "cuda"};
  } else if (words[0] == "completion") {
    all = {"bash", "zsh", "fish"};
  } else if (words[0] == "explain" && words.size() == 2) {
    for (const loop::MetricPage& p : loop::metric_pages()) all.push_back(p.name);
  } else if (takes("lab") && (words.size() == 2 || words[0] == "explain")) {
    for (const Lab& lab : labs) all.insert(all.end(), {lab.name.substr(0, 2), lab.name});
  } else if (takes("task")) {
    tasks();
  }
  for (const std::string& word : all)
    if (word.rfind(last, 0) == 0) fmt::print("{}\n", word);
}

void suggest(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.rfind("--", 0) == 0) {
      const std::string name = word.substr(0, word.find('='));
      const std::vector<std::string> known = options_of(*at);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      if (const std::string near = nearest(name, known); !near.empty()) tell("  try: did you mean {}?\n", near);
      return;
    }
    if (at != &app) continue;
    const std::vector<std::string> names = names_of(app);
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      const std::string near = nearest(word, names);
      tell("  try: {}\n",
           near.empty() ? "`ridge --help` lists the commands" : fmt::format("did you mean `ridge {}`?", near));
      return;
    }
    at = app.get_subcommand(word);
  }
  if (at != &app) tell("  try: `ridge {} --help` has examples\n", at->get_name());
}

}  // namespace ridge
