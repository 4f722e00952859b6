#include "app/loop_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "grader/base/lab.hpp"
#include "grader/base/text.hpp"
#include "learn/findings/metric_pages.hpp"

namespace ridge::loop {

namespace {

const char* kLab = "Lab: 01, 01_coalescing or coalescing";
const char* kTask = "Task (default: the next that has not passed)";

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

void add_commands(CLI::App& app, std::function<int()>& chosen) {
  auto add = [&](const char* name, const char* what, std::function<int()> command) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->callback([&chosen, command = std::move(command)] { chosen = command; });
    return sub;
  };
  auto w = std::make_shared<WatchArguments>();
  auto a = std::make_shared<std::map<std::string, std::string>>();
  auto flag = std::make_shared<std::map<std::string, bool>>();

  auto* sub = add("watch", "Check again whenever you save, the task of the file first", [w] { return watch(*w); });
  sub->add_option("lab", w->lab, kLab)->required();
  sub->add_option("--task", w->task, "Only this task");
  sub->add_option("--backend", w->backend, "cpu (SIMT emulator), cuda (GPU) or auto")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  sub->add_flag("--once", w->once, "Wait for one save, check, and end");

  sub = add("hint", "One hint more each time", [a, flag] { return hint((*a)["lab"], (*a)["task"], (*flag)["again"]); });
  sub->add_option("lab", (*a)["lab"], kLab)->required();
  sub->add_option("task", (*a)["task"], kTask);
  sub->add_flag("--again", (*flag)["again"], "Those you have seen, once more");

  sub = add("solution", "Show a reference solution, once the task has passed",
            [a, flag] { return solution((*a)["lab"], (*a)["task"], (*flag)["give-up"]); });
  sub->add_option("lab", (*a)["lab"], kLab)->required();
  sub->add_option("task", (*a)["task"], kTask);
  sub->add_flag("--give-up", (*flag)["give-up"], "Before it has passed; your log will say so");

  sub = add("diff", "Compare two attempts: code, goals and counters",
            [a] { return diff((*a)["lab"], (*a)["before"], (*a)["after"]); });
  sub->add_option("lab", (*a)["lab"], kLab)->required();
  sub->add_option("before", (*a)["before"],
                  "Attempt: its number, or its name (default: the one before with other code)");
  sub->add_option("after", (*a)["after"], "Attempt (default: the last)");

  sub = add("log", "Your work log as Markdown: hypothesis, change, measured result",
            [a] { return log((*a)["lab"], (*a)["out"]); });
  sub->add_option("lab", (*a)["lab"], kLab)->required();
  sub->add_option("-o,--output", (*a)["out"], "Write to this file");

  sub = add("explain", "What a metric or counter means, on your last run's numbers",
            [a] { return explain((*a)["metric"], (*a)["lab"]); });
  sub->add_option("metric", (*a)["metric"], "Metric, counter, or a goal's name (none: lists them)");
  sub->add_option("lab", (*a)["lab"], kLab);

  auto words = std::make_shared<std::vector<std::string>>();
  sub = add("completion", "Completion for a shell: bash, zsh or fish", [a, &app, words]() -> int {
    return (*a)["shell"] == "words" ? complete(app, *words) : completion((*a)["shell"]);
  });
  sub->add_option("shell", (*a)["shell"], "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish", "words"}));
  sub->add_option("words", *words, "For the scripts: what was typed so far")->group("");

  sub = add("new-lab", "A lab that compiles, for you to fill: labs/NN_name and solutions/NN_name",
            [a] { return new_lab((*a)["name"]); });
  sub->add_option("name", (*a)["name"], "NN_name, as 11_histogram")->required();

  CLI::App* course = app.add_subcommand("course", "What an instructor does with a course as a whole");
  course->require_subcommand(1);
  CLI::App* out =
      course->add_subcommand("export", "The copy for students: no solutions, wrong solutions, tests or history");
  out->add_option("folder", (*a)["folder"], "New folder to make")->required();
  out->add_option("--labs", (*a)["labs"], "Only these, as 01,02,03 (default: all)");
  out->callback([&chosen, a] { chosen = [a] { return course_export((*a)["folder"], (*a)["labs"]); }; });

  CLI::App* package = app.add_subcommand("package", "This build, or a lab's grader, for other machines");
  package->require_subcommand(1);
  auto p = std::make_shared<PackageArguments>();
  CLI::App* zip = package->add_subcommand("gradescope", "An autograder for Gradescope: a zip archive to upload");
  zip->add_option("--lab", p->lab, kLab)->required();
  zip->add_option("-o,--out", p->out, "File to write (default: gradescope-NN_name.zip here)");
  zip->add_option("--task", p->task, "Only this task");
  zip->add_option("--limit", p->limit, "Seconds that one submission may take; below the limit that Gradescope has")
      ->check(CLI::Range(10, 2400))
      ->default_val(540);
  zip->add_option("--seed-file", p->seed_file, "The course's secret seed: it will be in the archive");
  zip->add_flag("--require-sandbox", p->require_sandbox, "Grade nothing where a layer of the sandbox is missing");
  zip->callback([&chosen, p] { chosen = [p] { return package_gradescope(*p); }; });

  auto b = std::make_shared<PrebuiltArguments>();
  for (const char* format : {"tarball", "deb"}) {
    const bool deb = std::string(format) == "deb";
    CLI::App* one = package->add_subcommand(format, deb ? "This build as a package for Debian 12 and Ubuntu 24.04"
                                                        : "This build as an archive: unpack it anywhere, and run it");
    one->add_option("-o,--out", b->out,
                    deb ? "File to write (default: ridge_VERSION_ARCHITECTURE.deb here)"
                        : "File to write (default: ridge-VERSION-SYSTEM.tar.gz here)");
    one->add_flag("--solutions", b->solutions, "With the reference solutions: not for students");
    one->add_option("--with", b->parts, "Programs that only some need: cluster, live, mpi, viz")
        ->delimiter(',')
        ->check(CLI::IsMember({"cluster", "live", "mpi", "viz"}));
    one->callback([&chosen, b, format] {
      b->format = format;
      chosen = [b] { return package_prebuilt(*b); };
    });
  }
  CLI::App* tree = package->add_subcommand("tree", "For cmake --install")->group("");
  tree->add_option("folder", (*a)["folder"])->required();
  tree->callback([&chosen, a] { chosen = [a] { return package_tree((*a)["folder"]); }; });

  auto rest = std::make_shared<std::vector<std::string>>();
  sub = add("live", "Collect results over HTTP and show the leaderboard", [rest] { return live(*rest); });
  sub->add_option("--listen", *rest, "ADDRESS:PORT (default: 127.0.0.1:8080, this machine only)")->expected(1);
}

void add_examples(CLI::App& app) {
  static const std::map<std::string, std::string> examples = {
      {"labs", "  ridge labs\n  ridge labs --json"},
      {"start", "  ridge start 01"},
      {"check",
       "  ridge check 01\n  ridge check 01 --task transpose --note \"a tile of 32 x 33 has no conflicts\"\n"
       "  ridge check 03 --submission solutions/03_warp_shuffle"},
      {"grade", "  ridge grade 01\n  ridge grade 01 --backend cuda --json result.json"},
      {"watch",
       "  ridge watch 01                  all tasks, that of the saved file first\n  ridge watch 03 --task scan"},
      {"hint",
       "  ridge hint 01                   for the next task that has not passed\n  ridge hint 01 transpose\n"
       "  ridge hint 01 transpose --again"},
      {"solution", "  ridge solution 01 copy\n  ridge solution 01 gather --give-up"},
      {"diff",
       "  ridge diff 01                   the last change\n  ridge diff 01 1 -1              from the first attempt to "
       "the last"},
      {"log", "  ridge log 01\n  ridge log 01 -o log.md"},
      {"explain",
       "  ridge explain                   all names\n  ridge explain conflicts_per_request 01\n  ridge explain sectors "
       "01"},
      {"completion",
       "  ridge completion bash >> ~/.bashrc\n  ridge completion zsh >> ~/.zshrc\n"
       "  ridge completion fish > ~/.config/fish/completions/ridge.fish"},
      {"report",
       "  ridge report result.json --format junit\n  ridge report --html class.html work/.ridge/results/01_coalescing"},
      {"verify", "  ridge verify result.json --key course.pub"},
      {"key", "  ridge key new"},
      {"demo", "  ridge demo\n  ridge demo --full"},
      {"doctor", "  ridge doctor\n  ridge doctor --links"},
      {"ranks", "  ridge ranks -n 4"},
      {"calibrate", "  ridge calibrate"},
      {"bench", "  ridge bench --lab 01\n  ridge bench --steps --backend cpu\n  ridge bench --tables"},
      {"submit", "  ridge submit 03"},
      {"cluster",
       "  ridge cluster init\n  ridge cluster grade --lab 03 --submissions DIR --roster roster.csv\n"
       "  ridge cluster export --lab total"},
      {"new-lab", "  ridge new-lab 11_histogram"},
      {"course", "  ridge course export ../course-for-students"},
      {"package",
       "  ridge package gradescope --lab 01 --out lab01.zip\n  ridge package tarball\n"
       "  ridge package deb --with cluster,live --out ridge.deb"},
      {"live", "  ridge live                      on this machine only\n  ridge live --listen 0.0.0.0:8080"},
  };
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    if (auto at = examples.find(sub->get_name()); at != examples.end() && sub->get_footer() == app.get_footer())
      sub->footer("Examples:\n" + at->second);
  // Commands of a command have its examples.
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::App* inner : sub->get_subcommands([](CLI::App*) { return true; }))
      if (inner->get_footer() == app.get_footer()) inner->footer(sub->get_footer());
}

void suggest(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
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

int complete(const CLI::App& app, const std::vector<std::string>& words) {
  // The words behind `ridge`, the last of which is being typed.
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
    for (const MetricPage& p : metric_pages()) all.push_back(p.name);
  } else if (takes("lab") && (words.size() == 2 || words[0] == "explain")) {
    for (const Lab& lab : labs) all.insert(all.end(), {lab.name.substr(0, 2), lab.name});
  } else if (takes("task")) {
    tasks();
  }
  for (const std::string& word : all)
    if (word.rfind(last, 0) == 0) fmt::print("{}\n", word);
  return 0;
}

}  // namespace ridge::loop
