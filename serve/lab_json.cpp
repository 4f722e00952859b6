#include "serve/lab_json.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include "grader/base/text.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/attempts/hints.hpp"
#include "learn/findings/findings.hpp"
#include "learn/findings/lesson.hpp"
#include "serve/attempts_json.hpp"
#include "serve/predict_json.hpp"
#include "serve/work_files.hpp"

namespace ridge::serve {

using nlohmann::json;

namespace {

constexpr std::size_t kMostAttempts = 20;  // that are looked at for a task's last two results
constexpr std::size_t kMostFindings = 8;
constexpr std::size_t kMostMessages = 20;

// A task's last two results, and its file's SHA-256 as the last one judged it.
struct Judged {
  std::optional<TaskResult> last, before;
  std::string file_hash, attempt;  // of the last one
};

struct History {
  std::optional<loop::Attempt> newest;
  std::map<std::string, Judged> tasks;
};

History history_of(const Lab& lab) {
  History h;
  const std::vector<std::string> ids = loop::own_attempts(lab);
  for (std::size_t i = ids.size(); i > 0 && ids.size() - i < kMostAttempts; --i) {
    const std::optional<loop::Attempt> a = loop::load_attempt(lab.name, ids[i - 1]);
    if (!a) continue;
    if (!h.newest) h.newest = a;
    if (a->result.outcome == Outcome::build_failed) continue;
    for (const TaskResult& t : a->result.tasks) {
      Judged& j = h.tasks[t.id];
      if (j.last) {
        if (!j.before) j.before = t;
        continue;
      }
      j.last = t;
      j.attempt = a->id;
      for (const Task& spec : lab.tasks)
        if (spec.id == t.id && a->result.submission_files.count(spec.file) != 0)
          j.file_hash = a->result.submission_files.at(spec.file);
    }
  }
  return h;
}

json gates_json(const TaskResult& t) {
  json gates = json::array();
  for (const CheckResult& c : t.checks) {
    if (std::any_of(t.goals.begin(), t.goals.end(), [&](const GoalResult& g) { return g.id == c.name; })) continue;
    gates.push_back({{"name", c.name}, {"passed", c.passed}, {"message", c.message}, {"picture", c.picture}});
  }
  return gates;
}

json goals_json(const Task& spec, const std::optional<TaskResult>& last) {
  json goals = json::array();
  if (last && !last->goals.empty()) {
    for (const GoalResult& g : last->goals)
      goals.push_back({{"id", g.id},
                       {"title", g.title},
                       {"value", loop::goal_text(g)},
                       {"points", g.points},
                       {"max", g.max},
                       {"met", g.met},
                       {"measured", g.value.has_value()}});
    return goals;
  }
  for (const Goal& g : spec.goals)
    if (g.backend == lab::Backend::cpu)
      goals.push_back(
          {{"id", g.id}, {"title", g.title}, {"points", 0}, {"max", g.points}, {"met", false}, {"measured", false}});
  return goals;
}

json hints_json(const Lab& lab, const Task& task) {
  json shown = json::array();
  for (int i : loop::hints_seen(lab, task))
    shown.push_back({{"number", i + 1}, {"text", task.hints[static_cast<std::size_t>(i)].text}});
  return {{"count", task.hints.size()}, {"shown", shown}};
}

json task_json(const Lab& lab, const Task& spec, const Judged& j) {
  json task = {{"id", spec.id},
               {"title", spec.title},
               {"file", spec.file},
               {"lesson", loop::lesson_section(lab, spec).anchor},
               {"status", j.last ? name_of(j.last->status) : "open"},
               {"points", j.last ? j.last->points : 0},
               {"max", j.last ? j.last->max : spec.points(lab::Backend::cpu)},
               {"gates", json::array()},
               {"goals", goals_json(spec, j.last)},
               {"hints", hints_json(lab, spec)},
               {"judged", j.file_hash},
               {"changes", json::array()},
               {"views", j.last ? views_json(lab, j.attempt, *j.last) : json::array()}};
  if (!j.last) return task;
  task["gates"] = gates_json(*j.last);
  task["reason"] = j.last->reason;
  task["output"] = j.last->output;
  if (j.before)
    for (const loop::Change& c : loop::changes(*j.before, *j.last))
      task["changes"].push_back({{"text", c.what + " " + c.text}, {"direction", c.direction}});
  return task;
}

// "copy.cu:12" as file and line.
std::pair<std::string, int> place_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  int line = 0;
  if (colon != std::string::npos) std::from_chars(where.data() + colon + 1, where.data() + where.size(), line);
  return {line > 0 ? where.substr(0, colon) : std::string(), line};
}

json findings_json(const Lab& lab, const History& h) {
  json all = json::array();
  if (!h.newest) return all;
  Result r = h.newest->result;
  r.tasks.clear();
  for (const Task& t : lab.tasks)
    if (const auto at = h.tasks.find(t.id); at != h.tasks.end()) r.tasks.push_back(*at->second.last);
  if (r.outcome == Outcome::build_failed) r.outcome = Outcome::failed;  // the compiler's messages are shown apart
  for (const loop::Finding& f : loop::findings(lab, r, loop::read_sources(work_dir() / lab.name), kMostFindings)) {
    const auto [file, line] = place_of(f.where);
    const std::size_t hash = f.lesson.find('#');
    all.push_back({{"task", f.task},
                   {"goal", f.goal},
                   {"gate", f.gate},
                   {"points", f.points + f.waiting},
                   {"where", f.where},
                   {"file", file},
                   {"line", line},
                   {"what", f.what},
                   {"why", f.why},
                   {"behind", f.behind},
                   {"lesson", hash == std::string::npos ? "" : f.lesson.substr(hash + 1)}});
  }
  return all;
}

json build_json(const Lab& lab, const History& h) {
  if (!h.newest || h.newest->result.outcome != Outcome::build_failed) return nullptr;
  const Result& r = h.newest->result;
  json messages = json::array();
  for (const CompilerMessage& m : compiler_messages(r.build_output, lab.files))
    messages.push_back({{"file", m.file}, {"line", m.line}, {"text", m.text}});
  return {{"output", capped(printable(r.build_output), 16 << 10)}, {"messages", messages}};
}

}  // namespace

std::vector<CompilerMessage> compiler_messages(const std::string& output, const std::vector<std::string>& files) {
  std::vector<CompilerMessage> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line) && found.size() < kMostMessages;) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    CompilerMessage m{line.substr(0, colon), 0, {}};
    if (std::find(files.begin(), files.end(), m.file) == files.end()) continue;
    const char *at = line.data() + colon + 1, *end = line.data() + line.size();
    auto parsed = std::from_chars(at, end, m.line);
    if (parsed.ec != std::errc() || m.line <= 0) continue;
    const std::size_t kind = std::min(line.find(" error:", colon), line.find(" fatal error:", colon));
    if (kind == std::string::npos) continue;
    m.text = printable(line.substr(kind + 1));
    found.push_back(std::move(m));
  }
  return found;
}

json labs_json(const std::vector<Lab>& labs) {
  json all = json::array();
  for (const Lab& lab : labs) {
    const loop::LabState s = loop::state_of(lab);
    all.push_back({{"name", lab.name},
                   {"number", loop::number_of(lab)},
                   {"title", lab.title},
                   {"started", s.started},
                   {"points", s.points},
                   {"max", s.max},
                   {"passed", s.passed()},
                   {"last", s.last_time}});
  }
  return all;
}

json lab_json(const Lab& lab) {
  const History h = history_of(lab);
  json tasks = json::array();
  double points = 0, most = 0;
  std::string next;
  for (const Task& t : lab.tasks) {
    const auto at = h.tasks.find(t.id);
    tasks.push_back(task_json(lab, t, at == h.tasks.end() ? Judged{} : at->second));
    points += tasks.back()["points"].get<double>(), most += tasks.back()["max"].get<double>();
    const std::string status = tasks.back()["status"];
    if (next.empty() && status != "passed" && status != "skipped") next = t.id;
  }
  json files = json::array();
  for (const std::string& name : lab.files)
    files.push_back({{"name", name}, {"version", read_work_file(lab, name).version}});
  std::error_code ec;
  return {{"name", lab.name},
          {"number", loop::number_of(lab)},
          {"title", lab.title},
          {"started", fs::is_directory(work_dir() / lab.name, ec)},
          {"points", points},
          {"max", most},
          {"next", next},
          {"tasks", tasks},
          {"files", files},
          {"findings", findings_json(lab, h)},
          {"build", build_json(lab, h)},
          {"predictions", predictions_json(lab)},
          {"quiz", fs::exists(lab.dir / "quiz.toml", ec)},
          {"attempt", h.newest ? json{{"id", h.newest->id},
                                      {"time", h.newest->result.time},
                                      {"files", h.newest->result.submission_files}}
                               : json(nullptr)}};
}

}  // namespace ridge::serve
