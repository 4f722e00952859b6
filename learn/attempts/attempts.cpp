#include "learn/attempts/attempts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "grader/base/error.hpp"
#include "grader/base/source_text.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "grader/result/timeline_trace.hpp"
#include "learn/attempts/files.hpp"

namespace ridge::loop {

namespace {

constexpr std::uintmax_t kMaxSource = 1 << 20;  // the build refuses larger files

std::vector<std::string> stored_attempts(const std::string& lab) {
  std::vector<std::string> ids;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(results_dir() / lab, ec))
    if (entry.path().extension() == ".json" && !is_trace(entry.path())) ids.push_back(entry.path().stem().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Results older than the journal are recognised by the submission's path.
bool lay_in_work(const Result& r, const std::string& lab) {
  const fs::path path = r.submission_path;
  return path == fs::path(shown(work_dir() / lab)) ||
         (path.filename() == lab && path.parent_path().filename() == "work");
}

}  // namespace

std::vector<std::string> own_attempts(const Lab& lab) {
  std::set<std::string> noted;
  for (const Event& e : journal(lab.name))
    if (e.kind == "attempt") noted.insert(e.attempt);
  std::vector<std::string> own;
  for (const std::string& id : stored_attempts(lab.name)) {
    if (noted.count(id) == 0) {
      auto attempt = load_attempt(lab.name, id);
      if (!attempt || !lay_in_work(attempt->result, lab.name)) continue;
    }
    own.push_back(id);
  }
  return own;
}

std::optional<Attempt> load_attempt(const std::string& lab, const std::string& id) {
  const fs::path file = results_dir() / lab / (id + ".json");
  std::error_code ec;
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > kMaxRecordBytes) return std::nullopt;
  try {
    const nlohmann::json record = parse_json(file_text(file));
    if (!record.is_object()) return std::nullopt;
    return Attempt{id, read_result(record), ""};
  } catch (const Error&) {  // damaged, or no result
    return std::nullopt;
  }
}

int LabState::passed_tasks() const {
  return static_cast<int>(std::count_if(tasks.begin(), tasks.end(), [](const TaskState& t) { return t.passed(); }));
}

bool LabState::passed() const {
  return passed_tasks() > 0 &&
         std::all_of(tasks.begin(), tasks.end(), [](const TaskState& t) { return t.passed() || t.skipped(); });
}

LabState state_of(const Lab& lab) {
  LabState s;
  s.lab = lab;
  s.started = fs::exists(work_dir() / lab.name);
  const std::vector<Event> events = journal(lab.name);
  for (const Task& t : lab.tasks)
    s.tasks.push_back({t.id, std::nullopt, hints_taken(events, t.id), gave_up(events, t.id)});
  std::set<std::string> noted;
  for (const Event& e : events)
    if (e.kind == "attempt") noted.insert(e.attempt);
  // Attempts are read from the newest on, until each task was found: there may be a thousand.
  const std::vector<std::string> ids = stored_attempts(lab.name);
  std::size_t met = 0, read = 0;
  for (auto id = ids.rbegin(); id != ids.rend() && met < s.tasks.size() && read < 200; ++id) {
    if (!noted.empty() && noted.count(*id) == 0 && *id > *noted.begin()) continue;  // an attempt at another folder
    ++read;
    const auto attempt = load_attempt(lab.name, *id);
    if (!attempt || (noted.count(*id) == 0 && !lay_in_work(attempt->result, lab.name))) continue;
    const bool built = attempt->result.outcome != Outcome::build_failed;
    if (s.last_attempt.empty()) {
      s.last_attempt = *id, s.last_time = attempt->result.time, s.last_built = built;
      s.files = attempt->result.submission_files;
    }
    for (const TaskResult& t : attempt->result.tasks)
      for (TaskState& mine : s.tasks)
        if (mine.id == t.id && !mine.last) mine.last = t, ++met;
  }
  for (const TaskState& t : s.tasks) {
    const Task& spec = find_task(lab, t.id);
    s.points += t.last ? t.last->points : 0;
    s.max += t.last                 ? t.last->max
             : spec.runs_emulated() ? spec.points(lab.backends.empty() ? lab::Backend::cpu : lab.backends[0])
                                    : 0;
  }
  return s;
}

const TaskState* next_task(const LabState& s) {
  for (const TaskState& t : s.tasks)
    if (!t.passed() && !t.skipped()) return &t;
  return nullptr;
}

std::string number_of(const Lab& lab) { return lab.name.substr(0, lab.name.find('_')); }

const Task& task_or_next(const LabState& s, const std::string& id) {
  if (!id.empty()) return find_task(s.lab, id);
  const TaskState* next = next_task(s);
  return find_task(s.lab, next != nullptr ? next->id : s.lab.tasks.back().id);
}

const Task& find_task(const Lab& lab, const std::string& id) {
  std::vector<std::string> names;
  for (const Task& t : lab.tasks) {
    if (t.id == id) return t;
    names.push_back(t.id);
  }
  const std::string near = nearest(id, names);
  throw Error(
      Exit::usage, fmt::format("{} has no task '{}'", lab.name, id),
      fmt::format("{}its tasks are {}", near.empty() ? "" : "did you mean " + near + "? ", fmt::join(names, ", ")));
}

Sources read_sources(const fs::path& dir) {
  Sources all;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(dir, ec)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cu" && extension != ".cuh" && extension != ".h" && extension != ".hpp" && extension != ".inc")
      continue;
    if (entry.is_regular_file(ec) && entry.file_size(ec) <= kMaxSource && all.size() < 256)
      all[entry.path().filename().string()] = source_text(file_text(entry.path())).value_or("");
  }
  return all;
}

void record_attempt(const Lab& lab, const Result& r, const Sources& before, const std::string& note) {
  keep_files(r.submission_files, before);
  Event e{r.time, "attempt", "", r.attempt, note};
  for (const TaskResult& t : r.tasks)
    if (t.status == Status::passed) e.passed.push_back(t.id);
  add_event(lab.name, std::move(e));
}

}  // namespace ridge::loop
