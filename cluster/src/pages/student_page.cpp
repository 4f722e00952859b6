#include "cluster/src/pages/student_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/intake/intake.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "cluster/src/pages/local_time.hpp"
#include "cluster/src/pages/student_record.hpp"
#include "grader/base/text.hpp"
#include "grader/result/report.hpp"
#include "learn/report/lab_html.hpp"
#include "learn/report/page_style.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster {

using loop::escaped;

namespace {

constexpr std::size_t kMostSource = 1 << 20;

constexpr const char* kStudentStyle = R"css(
.who { color: var(--soft); font-size: 1.1rem; }
.grade { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: .7rem 1rem; margin: 1rem 0; }
.grade .value { font-size: 2.2rem; font-weight: 650; margin: 0; font-variant-numeric: tabular-nums; }
.grade ul { margin: .3rem 0 0; padding-left: 1.2rem; }
)css";

std::string percent_text(double percent) { return loop::points_text(percent) + " %"; }

// The graded hand-ins as the stops of a path.
std::vector<loop::Stop> path_of(Gradebook& book, const Feedback& f) {
  std::vector<loop::Stop> stops;
  std::set<std::string> passed;
  for (const HandIn& h : f.hand_ins) {
    const auto record = h.content.empty() ? std::nullopt : counting_record(book, f.grade.lab, h.content);
    const auto result = record ? result_of(*record) : std::nullopt;
    if (!result) continue;
    loop::Stop stop{local_text(h.date, TimeForm::this_year),  "", "", result->points,
                    result->outcome != Outcome::build_failed, {}, 0};
    for (const TaskResult& t : result->tasks)
      if (t.status == Status::passed && passed.insert(t.id).second) stop.passed.push_back(t.id);
    stops.push_back(std::move(stop));
  }
  return stops;
}

// The problems of intake begin with a verb, as what stands behind an entry's name: "is an archive of a kind ...".
std::string problem_text(const std::string& problem) {
  const bool verb = problem.starts_with("is ") || problem.starts_with("holds ") || problem.starts_with("can't ");
  return (verb ? "it " : "") + problem;
}

// Why there is no grade. The machines' own reasons are the instructor's.
std::string no_grade(const Grade& g) {
  if (!g.problem.empty() && g.content.empty())
    return fmt::format("What you handed in could not be judged: {}", problem_text(g.problem));
  if (g.content.empty()) return "Nothing was handed in.";
  if (g.state == "not-graded" && g.reason.starts_with(kHung))
    return "It was not graded: the judge did not end within its time limit. Look for a loop or a wait that never ends.";
  if (g.state == "not-graded" || g.state == "cancelled")
    return "It was not graded, and that is no zero: the grading itself failed, and your instructor sees why.";
  return "It is not graded yet.";
}

std::string ungraded_list(Gradebook& book, const Feedback& f) {
  if (f.hand_ins.size() < 2) return {};  // the grade's notes have said it
  std::string out;
  for (const HandIn& h : f.hand_ins)
    if (h.content.empty() || !counting_record(book, f.grade.lab, h.content))
      out += fmt::format("<li>{}: {}</li>\n", escaped(local_text(h.date, TimeForm::full)),
                         escaped(h.problem.empty() ? "no result" : problem_text(h.problem)));
  return out.empty() ? "" : "<h2>Hand-ins without a result</h2>\n<ul>\n" + out + "</ul>\n";
}

}  // namespace

Feedback feedback_of(Gradebook& book, const Grade& grade) {
  Feedback f{grade, {}, hand_ins(book, grade.lab, grade.student.id), {}};
  if (grade.content.empty()) return f;
  if (const auto record = counting_record(book, grade.lab, grade.content)) f.result = result_of(*record);
  if (f.result) f.result = for_student(*f.result);
  for (const std::string& file : find_lab(grade.lab).files)
    if (const auto text = read_regular(content_dir(book.course(), grade.lab, grade.content) / file, kMostSource))
      f.sources[file] = *text;
  return f;
}

std::vector<std::string> grade_notes(Gradebook& book, const Feedback& f) {
  const Grade& g = f.grade;
  const CourseLab rules = book.course().lab(g.lab);
  std::vector<std::string> notes;
  if (g.points && g.max)
    notes.push_back(fmt::format("The judge gave {} of {:g} points.", loop::points_text(*g.points), *g.max));
  if (!g.percent) notes.push_back(no_grade(g));
  if (g.handed_in) notes.push_back(fmt::format("Handed in: {}.", local_text(*g.handed_in, TimeForm::full)));
  Rows extension = book.db().query(
      "SELECT value FROM decision WHERE kind = 'extension' AND lab = ? AND student = ? ORDER BY id DESC LIMIT 1", g.lab,
      g.student.id);
  if (extension.next())
    notes.push_back(
        fmt::format("Your deadline was extended to {}.", local_text(parse_date(extension.text(0)), TimeForm::full)));
  else if (rules.deadline)
    notes.push_back(fmt::format("Deadline: {}.", local_text(*rules.deadline, TimeForm::full)));
  if (g.days_late > 0) {
    const double off = g.days_late > rules.late.days ? 100 : std::min(100.0, rules.late.percent_per_day * g.days_late);
    notes.push_back(fmt::format("{:.0f} day{} late{}.", g.days_late, g.days_late == 1 ? "" : "s",
                                g.overridden ? ""
                                : off >= 100 ? ", which is too late for points"
                                             : fmt::format(": {:g} % taken off", off)));
  }
  if (g.overridden && g.percent) notes.emplace_back("Your instructor set this grade.");
  if (g.late_left_out)
    notes.emplace_back(
        "You handed in again after the deadline. That earns no more, so what you handed in in time counts.");
  else if (!g.content.empty() && !f.hand_ins.empty() && !f.hand_ins.back().problem.empty())
    notes.push_back(
        fmt::format("Your last hand-in {}, so an earlier one counts: {}",
                    f.hand_ins.back().problem.starts_with(kOneTooMany) ? "was one too many" : "could not be read",
                    problem_text(f.hand_ins.back().problem)));
  return notes;
}

std::string student_page(Gradebook& book, const Lab& lab, const Feedback& f) {
  const Grade& g = f.grade;
  const std::string name = g.student.name.empty() ? g.student.id : g.student.name;
  const std::string title = fmt::format("Feedback for {}", name);
  std::string out = fmt::format(
      "<h1>{}</h1>\n<p class=\"who\">{}, lab {} {}</p>\n<section class=\"grade\">\n<p "
      "class=\"value\">{}</p>\n<ul>\n",
      escaped(title), escaped(book.course().name), lab.name.substr(0, lab.name.find('_')), escaped(lab.title),
      g.percent ? percent_text(*g.percent) : "No grade yet");
  for (const std::string& note : grade_notes(book, f)) out += fmt::format("<li>{}</li>\n", escaped(note));
  out += "</ul>\n</section>\n";
  if (f.result) {
    loop::LabRecord record{*f.result, {}, f.sources, path_of(book, f)};
    record.lessons = book.course().lessons;
    out += loop::lab_html(record, &lab, "/", "lab");
  }
  out += ungraded_list(book, f);
  return loop::whole_page(title, out, kStudentStyle);
}

std::string student_text(Gradebook& book, const Lab& lab, const Feedback& f) {
  std::string out = fmt::format("Lab {}: {}\n{}\n", lab.name.substr(0, lab.name.find('_')), lab.title,
                                f.grade.percent ? percent_text(*f.grade.percent) : "No grade yet");
  for (const std::string& note : grade_notes(book, f)) out += "- " + note + "\n";
  if (f.result) out += "\n" + report(*f.result, false);
  return printable(out);
}

}  // namespace ridge::cluster
