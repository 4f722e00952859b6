// ridge diff compares the code, goals and counters of two attempts.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/attempts/code_diff.hpp"

namespace ridge {

namespace {

using namespace loop;

Attempt must_load(const Lab& lab, const std::string& id) {
  auto a = load_attempt(lab.name, id);
  if (!a) throw Error(Exit::environment, "cannot read attempt " + id, "./ridge log lists those that there are");
  for (const Event& e : journal(lab.name))
    if (e.kind == "attempt" && e.attempt == id) a->note = e.note;
  return *a;
}

// The attempt that `key` names: "3" is the third, "-1" the last; otherwise it is the beginning or end of a name.
std::string pick(const std::vector<std::string>& ids, const std::string& key, const Lab& lab) {
  const bool digits =
      !key.empty() && key.size() < 6 && key.find_first_not_of("0123456789", key[0] == '-' ? 1 : 0) == key.npos;
  if (digits && key != "-") {
    const int n = std::stoi(key), size = static_cast<int>(ids.size());
    const int at = n < 0 ? size + n : n - 1;
    if (n != 0 && at >= 0 && at < size) return ids[static_cast<std::size_t>(at)];
  }
  std::vector<std::string> found;
  for (const std::string& id : ids)
    if (key.size() >= 4 && (id.rfind(key, 0) == 0 ||
                            (id.size() >= key.size() && id.compare(id.size() - key.size(), key.size(), key) == 0)))
      found.push_back(id);
  if (found.size() == 1) return found[0];
  throw Error(Exit::usage,
              fmt::format("{} attempt '{}' among the {} at {}", found.empty() ? "there is no" : "more than one", key,
                          ids.size(), lab.name),
              fmt::format("give its number (1 is the first, -1 the last); ./ridge log {} lists them", number_of(lab)));
}

const TaskResult* task_in(const Result& r, const std::string& id) {
  for (const TaskResult& t : r.tasks)
    if (t.id == id) return &t;
  return nullptr;
}

constexpr std::size_t kCounters = 4;  // as many fit under a task's goals at a glance

int compare_attempts(const std::string& key, const std::string& from, const std::string& to, bool all_counters) {
  const Lab lab = find_lab(key);
  const std::vector<std::string> ids = own_attempts(lab);
  if (ids.size() < 2)
    throw Error(Exit::usage,
                fmt::format("{} has {} recorded attempt{}, and a comparison takes two", lab.name, ids.size(),
                            ids.size() == 1 ? "" : "s"),
                fmt::format("./ridge check {} records one each time", number_of(lab)));
  const std::string second = to.empty() ? ids.back() : pick(ids, to, lab);
  std::string first;
  if (!from.empty()) {
    first = pick(ids, from, lab);
  } else {
    // The last attempt with other code: a repeated check shows no change.
    const auto files = must_load(lab, second).result.submission_files;
    for (const std::string& id : ids)
      if (id < second && (first.empty() || must_load(lab, id).result.submission_files != files)) first = id;
    if (first.empty()) first = ids.front();
  }
  const Attempt a = must_load(lab, first), b = must_load(lab, second);
  const bool colour = use_colour(stdout);
  auto paint = [&](const char* code, const std::string& text) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  fmt::print("{}\n  before  {}\n  after   {}\n", paint("1", lab.name), attempt_title(a.result),
             attempt_title(b.result));
  if (!b.note.empty()) fmt::print("  note    {}\n", printable(b.note));
  const auto code = code_diff(a.result, b.result);
  if (code.empty()) fmt::print("\nThe code is the same.\n");
  for (const FileDiff& d : code) {
    const DiffStat stat = diff_stat(d.lines);
    fmt::print("\n{}\n", paint("1", d.known ? fmt::format("{}  +{} -{}", d.name, stat.added, stat.removed)
                                            : d.name + " changed, and is no longer kept"));
    std::string text = hunks(d.lines), line;
    for (char c : text) {
      if (c != '\n') {
        line += c;
        continue;
      }
      const std::string shown = printable(line);
      fmt::print("{}\n", line[0] == '+'   ? paint("32", shown)
                         : line[0] == '-' ? paint("31", shown)
                         : line[0] == '@' ? paint("2", shown)
                                          : shown);
      line.clear();
    }
  }
  for (const TaskResult& t : b.result.tasks) {
    const TaskResult* old = task_in(a.result, t.id);
    if (old == nullptr) continue;
    const auto changed = changes(*old, t);
    const auto counters = counter_changes(*old, t);
    if (changed.empty() && counters.empty()) continue;
    fmt::print("\n{}  {:g} -> {:g} of {:g} points\n", paint("1", t.id), old->points, t.points, t.max);
    for (const Change& c : changed)
      fmt::print("  {:<12} {}\n", c.what,
                 c.direction > 0   ? paint("32", c.text)
                 : c.direction < 0 ? paint("31", c.text)
                                   : c.text);
    const std::size_t shown = all_counters ? counters.size() : std::min(counters.size(), kCounters);
    for (std::size_t i = 0; i < shown; ++i) fmt::print("  {}\n", counters[i]);
    if (shown < counters.size())
      print_as_typed("  {} more counters changed: ./ridge diff {} --counters\n", counters.size() - shown,
                     number_of(lab));
  }
  return 0;
}

struct DiffArguments {
  std::string lab, before, after;
  bool counters = false;
};

}  // namespace

void add_diff(Commands& ridge) {
  CLI::App* command = ridge.add("diff", "Compare two attempts: code, goals and counters",
                                "  ridge diff 01                   the last change\n"
                                "  ridge diff 01 1 -1              from the first attempt to the last");
  auto a = std::make_shared<DiffArguments>();
  command->add_option("lab", a->lab, kLabHelp)->required();
  command->add_option("before", a->before,
                      "Attempt: its number, or its name (default: the one before with other code)");
  command->add_option("after", a->after, "Attempt (default: the last)");
  command->add_flag("--counters", a->counters, "All hardware counters that changed, not the four that changed most");
  ridge.set_action(command, [a] { return compare_attempts(a->lab, a->before, a->after, a->counters); });
}

}  // namespace ridge
