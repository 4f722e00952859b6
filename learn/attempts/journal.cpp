#include "learn/attempts/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxNote = 2000;

fs::path file_of(const std::string& lab) { return work_dir() / ".ridge" / "journal" / (lab + ".jsonl"); }

}  // namespace

std::vector<Event> journal(const std::string& lab) {
  std::vector<Event> events;
  std::istringstream lines(file_text(file_of(lab)));
  for (std::string line; std::getline(lines, line);) {
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object()) continue;  // an interrupted write
    Event e{text_at(j, "time"), text_at(j, "kind"), text_at(j, "task"), text_at(j, "attempt"), text_at(j, "note")};
    if (auto at = j.find("passed"); at != j.end() && at->is_array())
      for (const json& t : *at)
        if (t.is_string()) e.passed.push_back(t.get<std::string>());
    e.question = text_at(j, "question");
    e.answer = text_at(j, "answer");
    if (auto at = j.find("value"); at != j.end() && at->is_number()) e.value = at->get<double>();
    if (auto at = j.find("right"); at != j.end() && at->is_boolean()) e.right = at->get<bool>();
    events.push_back(std::move(e));
  }
  return events;
}

void add_event(const std::string& lab, Event e) {
  if (e.time.empty()) new_attempt_id(e.time);
  json j = {{"time", e.time}, {"kind", e.kind}};
  if (!e.task.empty()) j["task"] = e.task;
  if (!e.attempt.empty()) j["attempt"] = e.attempt;
  if (!e.note.empty()) j["note"] = e.note.substr(0, kMaxNote);
  if (!e.passed.empty()) j["passed"] = e.passed;
  if (!e.question.empty()) j["question"] = e.question;
  if (!e.answer.empty()) j["answer"] = e.answer.substr(0, kMaxNote);
  if (e.value) j["value"] = *e.value;
  if (e.right) j["right"] = *e.right;
  const fs::path file = file_of(lab);
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  const std::string before = file_text(file);
  // One write, so that the lines of two commands do not mix. The line that a crash cut short is ended first.
  const std::string text = (before.empty() || before.back() == '\n' ? "" : "\n") +
                           j.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const int failed_with = errno;
  if (fd >= 0) close(fd);
  if (!written)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(file), std::strerror(failed_with)),
                "free some space, or set RIDGE_WORK to a folder that can be written");
}

std::vector<int> hints_shown(const std::vector<Event>& events, const std::string& task) {
  std::vector<int> shown;
  for (const Event& e : events) {
    if (e.kind != "hint" || e.task != task) continue;
    // Journals of earlier versions tell no number: hints came in their order.
    const int hint =
        e.value && *e.value >= 1 && *e.value < 1000 ? static_cast<int>(*e.value) - 1 : static_cast<int>(shown.size());
    if (std::find(shown.begin(), shown.end(), hint) == shown.end()) shown.push_back(hint);
  }
  return shown;
}

int hints_taken(const std::vector<Event>& events, const std::string& task) {
  return static_cast<int>(hints_shown(events, task).size());
}

bool gave_up(const std::vector<Event>& events, const std::string& task) {
  return std::any_of(events.begin(), events.end(),
                     [&](const Event& e) { return e.kind == "gave-up" && (e.task == task || e.task.empty()); });
}

}  // namespace ridge::loop
