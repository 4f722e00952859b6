#include "cluster/src/gradebook/lab_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/gradebook/class_counts.hpp"
#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/record.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

// The results that grades are made of, with the number of students who share each: none of an older hand-in, and none
// that a regrade has replaced.
template <class Do>
void each_result(Gradebook& book, const std::vector<Grade>& grades, Do act) {
  std::map<std::string, int> students;
  for (const Grade& g : grades)
    if (!g.token.empty()) ++students[g.token];
  for (const auto& [token, count] : students) {
    Rows r = book.db().query("SELECT record FROM result WHERE token = ?", token);
    if (!r.next()) continue;
    if (const json record = json::parse(r.text(0), nullptr, false); record.is_object()) act(record, count);
  }
}

// The stub replaces a file that was missing or empty, and earns what it earns: who graded may want to ask for the file.
std::vector<std::string> stubs_handed_in(Gradebook& book, const std::vector<Grade>& grades, const Lab& lab) {
  std::map<std::string, std::vector<std::string>> students;  // by the files
  for (const Grade& g : grades) {
    if (g.content.empty()) continue;
    std::vector<std::string> stubs;
    for (const std::string& file : lab.files)
      if (const auto text = read_regular(book.course().shared / "contents" / lab.name / g.content / file, 1 << 20);
          text && *text == file_text(lab.dir / file))
        stubs.push_back(file);
    if (!stubs.empty()) students[fmt::format("{}", fmt::join(stubs, ", "))].push_back(g.student.id);
  }
  std::vector<std::string> all;
  for (const auto& [files, ids] : students)
    all.push_back(fmt::format("{}: the lab's stub, as the file was missing, empty or unchanged: {}", files,
                              fmt::join(ids, ", ")));
  return all;
}

}  // namespace

std::set<std::string> failing_checks(const Result& result) {
  std::set<std::string> failing;
  if (result.outcome == Outcome::build_failed) failing.insert(kBuildsNot);
  for (const TaskResult& t : result.tasks) {
    for (const CheckResult& c : t.checks) {
      const bool waits =
          std::any_of(t.goals.begin(), t.goals.end(), [&](const GoalResult& g) { return g.id == c.name && !g.value; });
      if (!c.passed && !waits) failing.insert(t.id + "/" + c.name);
    }
    for (const GoalResult& g : t.goals)
      if (!g.met && g.value) failing.insert(t.id + "/" + g.id);
  }
  return failing;
}

std::string lab_version(const Result& result) {
  Hashes files;
  for (const auto& [name, hash] : result.harness_files)
    if (name.starts_with("labs/" + result.lab + "/")) files[name] = hash;
  return files.empty() ? "" : combined(files);
}

std::string lab_version_here(const std::string& lab) { return combined(lab_hashes(find_lab(lab))); }

int outdated_results(Gradebook& book, const std::string& lab) {
  const std::string here = lab_version_here(lab);
  int count = 0;
  each_result(book, book.grades(lab), [&](const json& record, int students) {
    const std::string version = lab_version(read_result(record));
    if (!version.empty() && version != here) count += students;
  });
  return count;
}

std::vector<std::string> concerns(Gradebook& book, const std::string& lab) {
  std::vector<std::string> all;
  std::map<std::string, std::vector<std::string>> same;
  const std::vector<Grade> grades = book.grades(lab);
  for (const Grade& g : grades)
    if (!g.content.empty()) same[g.content].push_back(g.student.id);
  std::map<std::string, int> gpus;  // results by the GPU's name
  each_result(book, grades, [&](const json& record, int) {
    if (const json sandbox = record.value("sandbox", json());
        sandbox.is_object() && sandbox.value("complete", json()) == false)
      all.emplace_back("a result was judged without a complete sandbox");
    const json device = record.value("device", json::object());
    if (device.is_object() && device.value("kind", json()) == name_of(DeviceKind::gpu) &&
        device.value("name", json()).is_string())
      ++gpus[printable(device["name"].get<std::string>())];
  });
  if (gpus.size() > 1) {
    std::vector<std::string> kinds;
    for (const auto& [gpu, results] : gpus) kinds.push_back(fmt::format("{} x {}", results, gpu));
    all.push_back(fmt::format("results come from GPUs of several types, whose points do not compare: {}",
                              fmt::join(kinds, ", ")));
  }
  for (const auto& [content, students] : same)
    if (students.size() > 1) all.push_back(fmt::format("the same files, byte for byte: {}", fmt::join(students, ", ")));
  for (Rows r =
           book.db().query("SELECT a.reason, count(*) FROM attempt a JOIN work w ON w.id = a.work WHERE w.lab = ? AND "
                           "a.state = 'failed' AND a.reason LIKE 'the record%' GROUP BY 1",
                           lab);
       r.next();)
    all.push_back(fmt::format("{} x {}", r.integer(1), r.text(0)));
  for (Rows r = book.db().query(
           "SELECT s.student, max(x.points * 100.0 / x.max), min(x.points * 100.0 / x.max) FROM result x "
           "JOIN work w ON w.id = x.work JOIN submission s ON s.lab = w.lab AND s.content = w.content "
           "WHERE w.lab = ? AND x.max > 0 GROUP BY s.student, w.content HAVING max(x.points) - min(x.points) > 0.01 * "
           "max(x.max)",
           lab);
       r.next();)
    all.push_back(fmt::format("{}: gradings of the same files differ, {:.1f} % and {:.1f} %", r.text(0), r.number(1),
                              r.number(2)));
  for (const std::string& line : stubs_handed_in(book, grades, find_lab(lab))) all.push_back(line);
  if (const int old = outdated_results(book, lab); old > 0)
    all.push_back(
        fmt::format("{} results are of another version of the lab; `ridge cluster regrade` makes them anew", old));
  return all;
}

std::vector<Decision> decisions(Gradebook& book, const std::string& lab) {
  std::vector<Decision> all;
  for (Rows r = book.db().query(
           "SELECT made, kind, student, value, reason, author FROM decision WHERE lab = ? ORDER BY id", lab);
       r.next();)
    all.push_back({r.integer(0), r.text(1), r.text(2), r.text(3), r.text(4), r.text(5)});
  return all;
}

std::string lab_report(Gradebook& book, const std::string& lab) {
  std::vector<int> bins(11, 0);
  std::vector<double> all;
  const std::vector<Grade> grades = book.grades(lab);
  for (const Grade& g : grades) {
    if (!g.percent) continue;
    all.push_back(*g.percent);
    ++bins[static_cast<std::size_t>(std::clamp(*g.percent / 10, 0.0, 10.0))];
  }
  std::sort(all.begin(), all.end());
  std::string out = fmt::format("{}: {}", lab, counts_text(class_counts(grades)));
  if (!all.empty()) out += fmt::format("; median {:.1f} %", all[all.size() / 2]);
  out += "\n\n";
  const int most = std::max(1, *std::max_element(bins.begin(), bins.end()));
  for (std::size_t i = 0; i < bins.size(); ++i)
    out += fmt::format("  {:>7} {:>4}  {}\n", i == 10 ? "100" : fmt::format("{}-{}", i * 10, i * 10 + 9), bins[i],
                       std::string(static_cast<std::size_t>((bins[i] * 40 + most - 1) / most), '#'));

  std::map<std::string, int> failing;
  each_result(book, grades, [&](const json& record, int students) {
    for (const std::string& check : failing_checks(read_result(record))) failing[check] += students;
  });
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, n] : failing) order.emplace_back(-n, name);
  std::sort(order.begin(), order.end());
  if (!order.empty()) out += "\nMost common failing checks (students):\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 12); ++i)
    out += fmt::format("  {:>4}  {}\n", -order[i].first, order[i].second);

  const auto section = [&](const char* title, const std::vector<std::string>& lines) {
    if (!lines.empty()) out += fmt::format("\n{}:\n  {}\n", title, fmt::join(lines, "\n  "));
  };
  std::vector<std::string> without;
  for (const Grade& g : grades)
    if (state_of(g) != StudentState::with_grade && state_of(g) != StudentState::nothing)
      without.push_back(fmt::format("{}: {}", g.student.id, why_no_grade(g)));
  for (const auto& e : book.unmatched(lab))
    without.push_back(fmt::format("nobody on the roster: {}: {}", fs::path(e.file).filename().string(), e.why));
  section("Handed in, without a grade", without);
  section("To look at", concerns(book, lab));
  std::vector<std::string> decided;
  for (const Decision& d : decisions(book, lab))
    decided.push_back(
        fmt::format("{} {} {} {}: {} ({})", date_text(d.made), d.kind, d.student, d.value, d.reason, d.author));
  section("Decisions", decided);
  return out;
}

}  // namespace ridge::cluster
