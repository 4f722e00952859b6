#include "results_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "kit/files.hpp"

namespace ridge::viz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// "03_warp_shuffle"
bool names_lab(const std::string& name) {
  return name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '_';
}

std::string word(const json& j, const char* key) { return text_at(j, key, 200); }

double number(const json& j, const char* key) {
  const double v = number_at(j, key);
  return v >= 0 && v < 1e9 ? v : 0;
}

// The first folder below the root. Empty where that folder is a lab's: then the root belongs to one student.
std::string student_of(const fs::path& file, const fs::path& root) {
  const fs::path inside = file.lexically_relative(root);
  const std::string first = inside.begin() == inside.end() ? "" : inside.begin()->string();
  const bool direct = std::distance(inside.begin(), inside.end()) < 2;
  if (direct || names_lab(first) || first == ".ridge") return "";
  return first;
}

// Fills in what a lab's attempts come to, task by task.
void merge_tasks(LabProgress& lab) {
  std::vector<AttemptTask> last;
  auto put = [](std::vector<AttemptTask>& tasks, const AttemptTask& t, bool always) {
    for (AttemptTask& known : tasks)
      if (known.id == t.id) {
        // Another backend may have other points: what counts is the part of them.
        if (always || t.points * known.max > known.points * t.max || known.max <= 0) known = t;
        return;
      }
    tasks.push_back(t);
  };
  auto sum = [](const std::vector<AttemptTask>& tasks, double AttemptTask::*of) {
    double total = 0;
    for (const AttemptTask& t : tasks) total += t.*of;
    return total;
  };
  // A lab's points sum to 100 on each backend. The part that was judged counts tasks that need a GPU as well, so that
  // it may point beyond.
  constexpr double kWhole = 100;
  for (const Attempt* a : lab.attempts) {
    const double whole = std::round(a->max / a->coverage * 100) / 100;
    lab.max = std::max(lab.max, a->max <= kWhole ? std::min(whole, kWhole) : whole);
  }
  for (const Attempt* a : lab.attempts) {
    for (const AttemptTask& t : a->tasks)
      if (t.status != "skipped") put(last, t, true), put(lab.tasks, t, false);
    lab.max = std::max(lab.max, sum(lab.tasks, &AttemptTask::max));
    // A result without tasks, as of a build that failed, has its own score alone.
    lab.standing.push_back(lab.max > 0 ? (last.empty() ? a->points : sum(last, &AttemptTask::points)) / lab.max : 0);
  }
  const auto highest = std::max_element(lab.standing.begin(), lab.standing.end());
  lab.best = lab.attempts[static_cast<std::size_t>(highest - lab.standing.begin())];
  lab.points = lab.tasks.empty() ? lab.best->points : sum(lab.tasks, &AttemptTask::points);
}

}  // namespace

void ResultsFolder::add(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  if (std::find(roots_.begin(), roots_.end(), whole) == roots_.end()) roots_.push_back(whole);
}

void ResultsFolder::walk(const fs::path& folder, const fs::path& root, int depth, std::size_t& files) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && entries != end; entries.increment(error)) {
    const fs::path& path = entries->path();
    const std::string name = path.filename().string();
    std::error_code ignored;
    if (entries->is_symlink(ignored)) continue;  // it may form a loop or lead elsewhere
    if (entries->is_directory(ignored)) {
      if (depth < kDeepest) walk(path, root, depth + 1, files);
      continue;
    }
    if (!name.ends_with(".json") || name.ends_with(".trace.json") || name.ends_with(".warp.json") || name[0] == '.')
      continue;
    if (++files > kMostFiles) {
      too_many_ = true;
      return;
    }
    found_.emplace(path, root);
  }
}

bool ResultsFolder::read(const fs::path& file, const fs::path& root, Known& known) const {
  const auto text = read_file(file);
  if (!text) return false;
  const json j = json::parse(*text, nullptr, false);
  if (j.is_discarded()) return false;
  if (!j.is_object() || word(j, "schema") != "ridge.result/1") {
    known.foreign = true;
    return false;
  }
  Attempt& a = known.attempt;
  const std::uint64_t seen = a.seen;
  a = {};
  a.seen = seen;
  a.file = file;
  a.lab = word(j, "lab");
  a.title = word(j, "title");
  a.attempt = word(j, "attempt");
  a.time = word(j, "time");
  a.mode = word(j, "mode");
  a.outcome = word(j, "outcome");
  if (const auto score = j.find("score"); score != j.end() && score->is_object()) {
    a.points = number(*score, "points");
    a.max = number(*score, "max");
    if (const double part = number(*score, "coverage"); part > 0 && part < 1) a.coverage = part;
  }
  if (const auto tasks = j.find("tasks"); tasks != j.end() && tasks->is_array())
    for (const json& t : *tasks)
      if (t.is_object() && a.tasks.size() < 64)
        a.tasks.push_back({word(t, "id"), word(t, "title"), word(t, "status"), number(t, "points"), number(t, "max")});
  a.student = student_of(file, root);
  if (a.student.empty()) a.student = root.filename().string();
  return !a.lab.empty();
}

bool ResultsFolder::look() {
  ++looks_;
  found_.clear();
  too_many_ = missing_ = false;
  std::size_t files = 0;
  for (const fs::path& root : roots_) {
    std::error_code error;
    missing_ = missing_ || !fs::is_directory(root, error);
    walk(root, root, 0, files);
  }
  // A folder that is missing for a moment, as while a server restarts, does not empty the board.
  bool changed = !missing_ && std::erase_if(known_, [&](const auto& k) { return found_.count(k.first) == 0; }) > 0;
  for (const auto& [path, root] : found_) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    const auto time = error ? fs::file_time_type{} : fs::last_write_time(path, error);
    if (error) continue;  // it was removed meanwhile
    Known& k = known_[path];
    const bool same = k.bytes == bytes && k.changed == time;
    if (same && (k.read || k.foreign || k.tries >= kTries)) continue;
    if (!same) k.tries = 0, k.foreign = false;
    k.bytes = bytes;
    k.changed = time;
    ++k.tries;
    if (bytes > kMostBytes) {
      k.tries = kTries;
      continue;
    }
    Known next = k;
    if (!read(path, root, next)) {  // keep what was read before
      k.foreign = next.foreign;
      continue;
    }
    next.read = true;
    if (!k.read) next.attempt.seen = looks_;
    k = std::move(next);
    changed = true;
    const std::string& student = k.attempt.student;
    const fs::path home = student_of(path, root).empty() ? root : root / student;
    std::string name;
    if (std::ifstream in(home / "name.txt"); in && std::getline(in, name) && !name.empty() && name.size() <= 80)
      names_[student] = name;
  }
  return changed;
}

std::vector<StudentProgress> ResultsFolder::students() const {
  std::map<std::string, std::map<std::string, LabProgress>> all;
  for (const auto& [path, k] : known_) {
    if (!k.read) continue;
    LabProgress& lab = all[k.attempt.student][k.attempt.lab];
    lab.lab = k.attempt.lab;
    if (!k.attempt.title.empty()) lab.title = k.attempt.title;
    lab.attempts.push_back(&k.attempt);
  }
  std::vector<StudentProgress> out;
  std::map<std::string, std::string> reached;  // the time of the attempt that reached the total
  for (auto& [student, labs] : all) {
    StudentProgress s;
    s.student = student;
    const auto name = names_.find(student);
    // work/.ridge/results has no student's name.
    s.name = name != names_.end() ? name->second : student == "results" ? "Your results" : student;
    for (auto& [id, lab] : labs) {
      std::sort(lab.attempts.begin(), lab.attempts.end(), [](const Attempt* a, const Attempt* b) {
        return a->attempt != b->attempt ? a->attempt < b->attempt : a->file < b->file;
      });
      merge_tasks(lab);
      for (const Attempt* a : lab.attempts) s.last_seen = std::max(s.last_seen, a->seen);
      s.points += lab.points;
      s.max += lab.max;
      reached[student] = std::max(reached[student], lab.best->attempt);
      s.labs.push_back(std::move(lab));
    }
    out.push_back(std::move(s));
  }
  std::stable_sort(out.begin(), out.end(), [&](const StudentProgress& a, const StudentProgress& b) {
    return a.points != b.points ? a.points > b.points : reached[a.student] < reached[b.student];
  });
  return out;
}

std::vector<std::string> ResultsFolder::notes() const {
  std::vector<std::string> all;
  std::size_t unread = 0;
  for (const auto& [path, k] : known_) unread += !k.read && !k.foreign && k.tries >= kTries;
  if (missing_) all.push_back("a folder is not there now: what is shown was read before");
  if (unread > 0) all.push_back(fmt::format("{} files could not be read as results", unread));
  if (too_many_) all.push_back(fmt::format("more than {} files: the rest is not shown", kMostFiles));
  return all;
}

std::string next_goal(const StudentProgress& s) {
  for (const LabProgress& lab : s.labs) {
    if (lab.part() >= 1 - 1e-9) continue;
    const AttemptTask* most = nullptr;
    double tried = 0;
    for (const AttemptTask& t : lab.tasks) {
      tried += t.max;
      if (!most || t.max - t.points > most->max - most->points) most = &t;
    }
    if (most && most->max - most->points > 1e-9)
      return fmt::format("Next: {}, task {}: {:g} more points. Try ./ridge check {} --task {}", lab.lab, most->id,
                         std::round((most->max - most->points) * 10) / 10, lab.lab.substr(0, 2), most->id);
    if (lab.max - tried > 0.5)
      return fmt::format("Next: {}, whose other tasks have {:g} points. Try ./ridge check {}", lab.lab,
                         std::round((lab.max - tried) * 10) / 10, lab.lab.substr(0, 2));
    return fmt::format("Next: {} again, {:g} of {:g} points so far.", lab.lab, lab.points, lab.max);
  }
  return s.labs.empty() ? "" : "Every lab that was tried has full marks.";
}

}  // namespace ridge::viz
