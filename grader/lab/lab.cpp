#include "grader/lab/lab.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/base/toml_reader.hpp"
#include "runtime/lab/cause.hpp"

namespace ridge {

namespace {

// The gates that a hint may answer: the judge's, and those of the labs' checks.
constexpr std::string_view kGates[] = {"build",    "correct",    "memory",    "memory-limit", "launch",
                                       "run",      "time-limit", "device",    "agree",        "traffic",
                                       "deadlock", "mismatch",   "in-flight", "bubble",       "questions"};

bool may_fail(const Task& task, const std::string& what) {
  return std::find(std::begin(kGates), std::end(kGates), what) != std::end(kGates) ||
         std::find(kCauses.begin(), kCauses.end(), what) != kCauses.end() ||
         std::any_of(task.goals.begin(), task.goals.end(), [&](const Goal& g) { return g.id == what; });
}

// One [[predict]] of the manifest, whose tasks are known by now.
Prediction prediction(const TomlReader& r, const Lab& lab) {
  Prediction p;
  p.id = r.plain_name("id");
  for (const Prediction& other : lab.predictions)
    if (other.id == p.id) r.fail("id", fmt::format("a second prediction '{}'", printable(p.id)), "name it otherwise");
  p.task = r.required<std::string>("task");
  const auto task = std::find_if(lab.tasks.begin(), lab.tasks.end(), [&](const Task& t) { return t.id == p.task; });
  if (task == lab.tasks.end()) {
    std::string known;
    for (const Task& t : lab.tasks) known += (known.empty() ? "" : ", ") + t.id;
    r.fail("task", fmt::format("there is no task '{}'", printable(p.task)), "the lab's tasks are " + known);
  }
  p.ask = r.required<std::string>("ask");
  p.unit = r.optional<std::string>("unit", "");
  p.why = r.optional<std::string>("why", "");
  p.choices = r.checked_strings("choices");
  if (r.has("metric") == r.has("answer"))
    r.fail("id",
           fmt::format("prediction '{}' has {}", p.id,
                       r.has("metric") ? "both 'metric' and 'answer'" : "neither 'metric' nor 'answer'"),
           "name the metric that answers it, or write down its fixed answer");
  if (r.has("metric")) {
    p.metric = r.required<std::string>("metric");
    if (!p.choices.empty()) r.fail("choices", "a metric's value is a number, not a choice", "leave 'choices' out");
    std::string known;
    for (const Goal& g : task->goals)
      if (known.find(g.metric) == std::string::npos) known += (known.empty() ? "" : ", ") + g.metric;
    if (std::none_of(task->goals.begin(), task->goals.end(), [&](const Goal& g) { return g.metric == p.metric; }))
      r.fail("metric", fmt::format("no goal of task '{}' has the metric '{}'", p.task, printable(p.metric)),
             "its goals have " + known);
  } else if (p.choices.empty()) {
    p.number = r.finite("answer");
  } else {
    const auto answer = r.required<std::string>("answer");
    const auto at = std::find(p.choices.begin(), p.choices.end(), answer);
    if (at == p.choices.end()) r.fail("answer", "'answer' is none of 'choices'", "repeat the text of one choice");
    p.right = static_cast<std::size_t>(at - p.choices.begin());
  }
  if (p.choices.size() == 1 || p.choices.size() > 9) r.fail("choices", "'choices' has not 2 to 9 of them");
  if (p.metric.empty() && p.why.empty()) r.fail("why", "'why' is missing: a fixed answer needs its reason");
  r.finish();
  return p;
}

bool all_digits(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

}  // namespace

bool Task::runs_emulated() const {
  if (needs.empty()) return true;
  return runs_on(needs, kEmulatedCompute) &&
         std::any_of(goals.begin(), goals.end(), [](const Goal& g) { return g.backend == lab::Backend::cpu; });
}

double Task::points(lab::Backend backend) const {
  if (backend == lab::Backend::cpu && !runs_emulated()) return 0;
  double sum = points_correct;
  for (const Goal& g : goals)
    if (g.backend == backend) sum += g.points;
  return sum;
}

bool Lab::has_backend(lab::Backend backend) const {
  return backends.empty() || std::find(backends.begin(), backends.end(), backend) != backends.end();
}

int Lab::least_gpus() const {
  return std::all_of(tasks.begin(), tasks.end(), [](const Task& t) { return !t.ranks.empty(); }) ? 2 : 1;
}

int Lab::most_gpus(int here) const {
  int most = 1;
  for (int p : ranks)
    if (p <= here) most = std::max(most, p);
  return most;
}

bool runs_on(const std::string& needs, const std::string& compute) {
  std::string digits;
  for (char c : compute)
    if (c != '.') digits += c;
  if (digits.empty() || needs.rfind("sm_", 0) != 0) return false;
  const std::string number = needs.substr(3, needs.find_last_of("0123456789") - 2);
  return number.size() + 3 < needs.size() ? digits == number : std::atoi(digits.c_str()) >= std::atoi(number.c_str());
}

Lab load_lab(const fs::path& dir) {
  std::ifstream in(dir / "lab.toml", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad() || !in.is_open())
    throw Error(Exit::environment, "cannot read " + shown(dir / "lab.toml"), "check that it is readable");
  return parse_lab(text, dir);
}

Lab parse_lab(std::string_view text, const fs::path& dir) {
  const fs::path file = dir / "lab.toml";
  const toml::table table = parse_toml(text, file);
  const TomlReader r(table, shown(file), "see labs/01_coalescing/lab.toml for a complete example");
  Lab lab;
  lab.name = dir.filename().string();
  lab.dir = dir;
  lab.title = r.required<std::string>("title");
  lab.order = static_cast<int>(r.required<std::int64_t>("order"));
  lab.minutes = static_cast<int>(r.optional<std::int64_t>("minutes", 0));
  lab.prerequisites = r.strings("prerequisites");
  lab.backends = r.all_named<lab::Backend>("backends");
  lab.files = r.strings("files");
  lab.libraries = r.strings("libraries");
  const std::vector<int> ranks = r.numbers("ranks");
  lab.baseline_libraries = r.strings("baseline_libraries");
  if (auto forbid = r.table("forbid")) {
    for (const lab::Backend backend : lab.backends) lab.forbid[backend] = forbid->strings(name_of(backend));
    lab.entry_calls = forbid->strings("entry");
    lab.forbidden_headers = forbid->strings("headers");
  }
  for (const TomlReader& t : r.tables("task")) {
    Task task;
    task.id = t.required<std::string>("id");
    task.title = t.required<std::string>("title");
    task.file = t.optional<std::string>("file", "");
    task.points_correct = t.required<double>("points_correct");
    task.needs = t.optional<std::string>("needs", "");
    task.baseline = t.optional<std::string>("baseline", "");
    task.lesson = t.optional<std::string>("lesson", "");
    task.from = t.checked_strings("from");
    task.ranks = t.numbers("ranks");
    if (task.ranks.empty()) task.ranks = ranks;
    for (const int p : task.ranks)
      if (std::find(lab.ranks.begin(), lab.ranks.end(), p) == lab.ranks.end()) lab.ranks.push_back(p);
    for (const std::string& before : task.from)
      if (std::none_of(lab.tasks.begin(), lab.tasks.end(), [&](const Task& earlier) { return earlier.id == before; }))
        t.fail("from", fmt::format("no task '{}' comes before '{}'", printable(before), printable(task.id)),
               "name the earlier task whose answer this one starts from");
    for (const TomlReader& g : t.tables("goal")) {
      task.goals.push_back({g.required<std::string>("id"), g.required<std::string>("title"),
                            g.named<lab::Backend>("backend"), g.required<std::string>("metric"),
                            g.required<double>("zero"), g.required<double>("full"), g.required<double>("points"),
                            g.optional<std::string>("after", ""), g.optional<std::string>("lesson", "")});
      g.finish();
      if (task.goals.back().metric == "ratio_to_baseline" && task.baseline.empty())
        throw Error(
            Exit::environment,
            fmt::format("{}: task '{}' is measured against a baseline and does not say which", shown(file), task.id),
            "add baseline = \"cudaMemcpy\", or what baseline.cu does");
    }
    for (const auto& [hint, fields] : t.texts("hints")) {
      task.hints.push_back({hint});
      if (!fields) continue;
      task.hints.back().answers = fields->checked_strings("answers");
      for (const std::string& what : task.hints.back().answers)
        if (!may_fail(task, what))
          fields->fail(
              "answers", fmt::format("'{}' is no goal of the task, no gate and no cause", printable(what)),
              "runtime/lab/cause.hpp has the causes; the gates are " + fmt::format("{}", fmt::join(kGates, ", ")));
      fields->finish();
    }
    t.finish();
    lab.tasks.push_back(std::move(task));
  }
  for (const TomlReader& p : r.checked_tables("predict")) lab.predictions.push_back(prediction(p, lab));
  r.finish();
  return lab;
}

std::vector<Lab> load_labs() {
  std::vector<Lab> labs;
  std::vector<fs::path> folders = {root_dir() / "labs"};
#ifdef RIDGE_DEFENCE_SWITCHES
  folders.push_back(root_dir() / "tests/grader/labs");  // the test program has labs of its own
#endif
  for (const auto& folder : folders)
    if (fs::is_directory(folder))
      for (const auto& entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "lab.toml")) labs.push_back(load_lab(entry.path()));
  std::sort(labs.begin(), labs.end(), [](const Lab& a, const Lab& b) { return a.name < b.name; });
  return labs;
}

Lab find_lab(const std::string& key) {
  std::vector<Lab> labs = load_labs();
  std::string known;
  std::vector<std::string> names;
  for (const Lab& lab : labs) {
    std::string number = lab.name.substr(0, lab.name.find('_'));
    std::string rest = lab.name.substr(std::min(lab.name.size(), number.size() + 1));
    if (key == lab.name || key == rest) return lab;
    if (all_digits(key) && all_digits(number) && key.size() < 6 && std::stoi(key) == std::stoi(number)) return lab;
    known += (known.empty() ? "" : ", ") + lab.name;
    names.insert(names.end(), {lab.name, rest});
  }
  const std::string near = nearest(key, names);
  throw Error(Exit::usage, fmt::format("there is no lab '{}'", key),
              (near.empty() ? "" : "did you mean " + near + "? ") + "labs here: " + known);
}

}  // namespace ridge
