// diff and log: what attempts changed, and what that did.
#include <fmt/format.h>

#include <algorithm>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/attempts/files.hpp"
#include "learn/attempts/line_diff.hpp"
#include "learn/commands.hpp"

namespace ridge::loop {

namespace {

Attempt load(const Lab& lab, const std::string& id) {
  auto a = load_attempt(lab.name, id);
  if (!a) throw Error(Exit::environment, "cannot read attempt " + id, "./ridge log lists those that there are");
  for (const Event& e : journal(lab.name))
    if (e.kind == "attempt" && e.attempt == id) a->note = e.note;
  return *a;
}

// "3": the third; "-1": the last; or the beginning or the end of its name.
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

struct FileDiff {
  std::string name;
  std::vector<DiffLine> lines;
  bool known = true;  // both contents are still kept
};

std::vector<FileDiff> code_diff(const Result& a, const Result& b) {
  std::vector<FileDiff> all;
  std::map<std::string, std::string> names = a.submission_files;
  names.insert(b.submission_files.begin(), b.submission_files.end());
  for (const auto& [name, unused] : names) {
    auto of = [&](const Result& r) {
      return r.submission_files.count(name) ? r.submission_files.at(name) : std::string();
    };
    const std::string before = of(a), after = of(b);
    if (before == after) continue;
    FileDiff d{name, {}, true};
    const auto text_a = before.empty() ? std::optional<std::string>("") : kept_file(before);
    const auto text_b = after.empty() ? std::optional<std::string>("") : kept_file(after);
    if (text_a && text_b)
      d.lines = line_diff(*text_a, *text_b);
    else
      d.known = false;
    all.push_back(std::move(d));
  }
  return all;
}

std::string title(const Result& r) {
  return fmt::format("{} {}: {} on {}, {:g} / {:g}{}", r.time.substr(0, 10),
                     r.time.size() > 16 ? r.time.substr(11, 5) : "", r.mode, r.backend, r.points, r.max,
                     r.outcome == "build-failed" ? ", did not compile" : "");
}

const TaskResult* task_in(const Result& r, const std::string& id) {
  for (const TaskResult& t : r.tasks)
    if (t.id == id) return &t;
  return nullptr;
}

// A change in a few words: its first lines, without blanks and comments.
std::string gist(const std::vector<DiffLine>& lines) {
  std::string out;
  int shown = 0;
  for (const DiffLine& l : lines) {
    if (l.kind == ' ') continue;
    const auto first = l.text.find_first_not_of(" \t");
    if (first == std::string::npos || l.text.compare(first, 2, "//") == 0 || l.text.size() - first < 3) continue;
    if (++shown > 8) {
      out += "...\n";
      break;
    }
    out += fmt::format("{} {}\n", l.kind, l.text.substr(first, 110));
  }
  return out;
}

}  // namespace

int diff(const std::string& key, const std::string& from, const std::string& to) {
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
    // The last one whose code was another: a check that is only repeated tells nothing.
    const auto files = load(lab, second).result.submission_files;
    for (const std::string& id : ids)
      if (id < second && (first.empty() || load(lab, id).result.submission_files != files)) first = id;
    if (first.empty()) first = ids.front();
  }
  const Attempt a = load(lab, first), b = load(lab, second);
  const bool colour = use_colour(stdout);
  auto paint = [&](const char* code, const std::string& text) {
    return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  };
  fmt::print("{}\n  before  {}\n  after   {}\n", paint("1", lab.name), title(a.result), title(b.result));
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
    for (const std::string& line : counters) fmt::print("  {}\n", line);
  }
  return 0;
}

int log(const std::string& key, const std::string& out) {
  const Lab lab = find_lab(key);
  const std::vector<std::string> ids = own_attempts(lab);
  const std::vector<Event> events = journal(lab.name);
  std::string text = fmt::format("# Work log: lab {}, {}\n\n", number_of(lab), lab.title);
  const LabState state = state_of(lab);
  text += fmt::format("{} attempts; {:g} of {:g} points by the last result of each task.\n", ids.size(), state.points,
                      state.max);
  std::optional<Attempt> last;  // with other code than now
  std::map<std::string, TaskResult> tasks;
  std::size_t event = 0;
  auto told_until = [&](const std::string& time) {  // hints and what was given up before this
    for (; event < events.size() && events[event].time <= time; ++event) {
      const Event& e = events[event];
      if (e.kind == "hint") text += fmt::format("\n*{}: a hint for `{}` was taken.*\n", e.time.substr(0, 16), e.task);
      if (e.kind == "gave-up")
        text +=
            fmt::format("\n*{}: the solution of `{}` was opened before it passed.*\n", e.time.substr(0, 16), e.task);
    }
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto loaded = load_attempt(lab.name, ids[i]);
    if (!loaded) continue;
    for (const Event& e : events)
      if (e.kind == "attempt" && e.attempt == ids[i]) loaded->note = e.note;
    const Result& r = loaded->result;
    std::string measured;
    for (const TaskResult& t : r.tasks) {
      auto old = tasks.find(t.id);
      std::string line;
      if (old == tasks.end()) {
        for (const GoalResult& g : t.goals)
          line += fmt::format("{}{} {}", line.empty() ? "" : "; ", g.id, goal_text(g));
        if (!t.checks.empty() && !t.checks[0].passed && t.goals.size() != t.checks.size())
          line = t.checks[0].name + " failed: " + t.checks[0].message.substr(0, t.checks[0].message.find('\n'));
        line = fmt::format("{}, {:g} of {:g} points. {}", t.status, t.points, t.max, line);
      } else {
        for (const Change& c : changes(old->second, t))
          line += fmt::format("{}{} {}", line.empty() ? "" : "; ", c.what, c.text);
        if (!line.empty())
          line = fmt::format("{:g} -> {:g} of {:g} points. {}", old->second.points, t.points, t.max, line);
      }
      if (!line.empty()) measured += fmt::format("- `{}`: {}\n", t.id, printable(line));
      if (r.outcome != "build-failed") tasks[t.id] = t;
    }
    if (r.outcome == "build-failed")
      measured = fmt::format("- did not compile: {}\n", printable(r.build_output.substr(0, r.build_output.find('\n'))));
    std::string change;
    if (last)
      for (const FileDiff& d : code_diff(last->result, r)) {
        const DiffStat stat = diff_stat(d.lines);
        change += d.known ? fmt::format("\n`{}` +{} -{}\n\n```diff\n{}```\n", d.name, stat.added, stat.removed,
                                        printable(gist(d.lines)))
                          : fmt::format("\n`{}` changed (its text is no longer kept)\n", d.name);
      }
    const bool repeated = last && change.empty() && loaded->note.empty() && measured.empty();
    told_until(r.time);
    if (!repeated) {
      text += fmt::format("\n## {}. {}\n", i + 1, title(r));
      if (!loaded->note.empty()) text += fmt::format("\n**Hypothesis.** {}\n", printable(loaded->note));
      if (!change.empty()) text += "\n**Change.**\n" + change;
      text += "\n**Measured.**\n\n" + (measured.empty() ? std::string("- nothing changed\n") : measured);
    }
    last = std::move(loaded);
  }
  told_until("9");
  if (ids.empty()) text += as_typed(fmt::format("\nNo attempt yet: ./ridge check {}\n", number_of(lab)));
  if (out.empty())
    fmt::print("{}", text);
  else
    write_durably(fs::absolute(out), text);
  return 0;
}

}  // namespace ridge::loop
