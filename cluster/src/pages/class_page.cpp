#include "cluster/src/pages/class_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/gradebook/class_counts.hpp"
#include "cluster/src/gradebook/lab_report.hpp"
#include "cluster/src/pages/class_charts.hpp"
#include "cluster/src/pages/class_data.hpp"
#include "cluster/src/pages/local_time.hpp"
#include "cluster/src/pages/students_table.hpp"
#include "grader/base/text.hpp"
#include "learn/report/lab_html.hpp"
#include "learn/report/page_style.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster {

using loop::escaped;

namespace {

constexpr std::size_t kMostMistakes = 4;  // shown at once for a check

constexpr const char* kClassStyle = R"css(
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .8rem; margin: 1rem 0; padding: 0; }
.numbers div { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: .5rem .8rem; }
.numbers dt { color: var(--soft); font-size: .85rem; } .numbers dd { margin: 0; font-size: 1.5rem; font-weight: 650; font-variant-numeric: tabular-nums; }
.bars { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
.bars figure, .times { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: .6rem .8rem; margin: 0; }
.bars figcaption, .times figcaption { color: var(--ink); margin-bottom: .4rem; } .times { max-width: none; }
.bars svg { font-size: 12px; } .times svg { font-size: 9px; }
svg .some-of { fill: var(--kernel); } svg .none-of { fill: var(--bad); } svg .all-of { fill: var(--good); }
svg .deadline { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 5 4; }
body { max-width: 88rem; } td, tbody th { vertical-align: top; } td.n, td.date { white-space: nowrap; } td ul { margin: 0; padding-left: 1.1rem; } td.wide { min-width: 16rem; } td.remark { min-width: 8rem; } td, th { overflow-wrap: normal; }
thead th { vertical-align: bottom; } .students { font-size: .88rem; width: 100%; } .students td, .students th { padding-right: .55rem; } .students td:nth-child(2) { min-width: 9rem; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 650; } th button:hover { text-decoration: underline; }
th button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
th button::after { content: " \2195"; color: var(--soft); } th[aria-sort=ascending] button::after { content: " \2191"; } th[aria-sort=descending] button::after { content: " \2193"; }
.scroll:focus-visible { outline: 2px solid var(--accent); }
@media (max-width: 40rem) { .bars svg { font-size: 12px; } .times svg { font-size: 28px; } }
@media print { h2, h2:first-of-type { break-before: auto; } th button::after { content: ""; } .scroll { overflow: visible; } .students { font-size: 7pt; } }
)css";

std::string number_card(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(title), body);
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "<li>" + escaped(line) + "</li>\n";
  return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

std::string numbers(const ClassData& d) {
  std::vector<double> percents;
  std::set<std::string> handed_in;
  for (const HandIn& h : d.hand_ins) handed_in.insert(h.student);
  for (const Grade& g : d.grades)
    if (g.percent) percents.push_back(*g.percent);
  std::sort(percents.begin(), percents.end());
  const auto late = std::count_if(d.grades.begin(), d.grades.end(), [](const Grade& g) { return g.days_late > 0; });
  std::string out = number_card("Students", std::to_string(d.grades.size())) +
                    number_card("Handed in", std::to_string(handed_in.size())) +
                    number_card("With a grade", std::to_string(percents.size()));
  const ClassCounts counts = class_counts(d.grades);
  if (counts.running + counts.waiting > 0)
    out += number_card("Being graded", std::to_string(counts.running + counts.waiting));
  if (counts.not_graded > 0) out += number_card("Not graded", std::to_string(counts.not_graded));
  if (!percents.empty()) out += number_card("Median", loop::points_text(percents[percents.size() / 2]) + " %");
  return "<dl class=\"numbers\">\n" + out + number_card("Hand-ins", std::to_string(d.hand_ins.size())) +
         number_card("Late", std::to_string(late)) + "</dl>\n";
}

std::string distribution(const ClassData& d) {
  const auto figure = [](const std::string& name, const std::string& svg) {
    return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", escaped(name), svg);
  };
  std::vector<double> percents;
  for (const Grade& g : d.grades)
    if (g.percent) percents.push_back(*g.percent);
  if (percents.empty()) return {};
  std::string out = figure("The grade, in percent", histogram_svg(percents, 100, "the grade"));
  for (const Task& task : d.lab.tasks) {
    std::vector<double> points;
    double most = 0;
    for (const auto& [student, result] : d.results)
      for (const TaskResult& t : result.tasks)
        if (t.id == task.id && t.status != Status::skipped) points.push_back(t.points), most = std::max(most, t.max);
    if (!points.empty())
      out += figure(fmt::format("{}, {:g} points", task.id, most), histogram_svg(points, most, task.id));
  }
  return "<p class=\"soft\">How many students have which part of the points; tasks as the judge gave them, before "
         "lateness.</p>\n<div class=\"bars\">\n" +
         out + "</div>\n";
}

std::string over_time(const ClassData& d) {
  if (d.hand_ins.empty()) return {};
  std::vector<std::int64_t> dates;
  std::map<std::string, int> each;
  for (const HandIn& h : d.hand_ins) dates.push_back(h.date), ++each[h.student];
  std::map<int, int> students;
  for (const auto& [student, n] : each) ++students[n];
  std::string told;
  for (const auto& [n, count] : students)
    told += fmt::format("{}{} student{} {} time{}", told.empty() ? "" : ", ", count, count == 1 ? "" : "s", n,
                        n == 1 ? "" : "s");
  return fmt::format("<figure class=\"times\"><figcaption>Handed in: {}.</figcaption>{}</figure>\n", told,
                     times_svg(dates, d.rules.deadline));
}

std::string mistakes(const Failing& f) {
  std::string shown, more;
  for (std::size_t i = 0; i < f.misconceptions.size(); ++i) {
    const auto& [why, name] = f.misconceptions[i];
    (i < kMostMistakes ? shown : more) += fmt::format("<li>{} <code>{}</code></li>\n", escaped(why), escaped(name));
  }
  if (shown.empty()) return "";
  return "<ul>" + shown + "</ul>" +
         (more.empty() ? ""
                       : fmt::format("<details><summary>{} more</summary><ul>{}</ul></details>",
                                     f.misconceptions.size() - kMostMistakes, more));
}

std::string failing_table(const ClassData& d) {
  std::string rows;
  for (const Failing& f : failing_most(d))
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\" data-v=\"{}\">{:.0f} %</td><td "
        "class=\"wide\">{}</td></tr>\n",
        escaped(f.check), f.students, f.students, 100.0 * f.students / static_cast<double>(d.results.size()),
        mistakes(f));
  if (rows.empty()) return {};
  return "<p class=\"soft\">Behind a check stand known ways to fail it. <code>" +
         escaped(as_typed(fmt::format("./ridge check {} --wrong NAME", d.lab.name.substr(0, 2)))) +
         "</code> shows one as a student would see it.</p>\n" +
         scrolled(
             "failing checks",
             "<table><thead><tr><th scope=\"col\">Check</th><th scope=\"col\" class=\"n\">Students</th><th "
             "scope=\"col\" class=\"n\">Of the graded</th><th scope=\"col\">Known mistakes</th></tr></thead><tbody>\n" +
                 rows + "</tbody></table>\n");
}

std::string ungraded(Gradebook& book, const ClassData& d) {
  std::string rows, absent;
  int missing = 0;
  for (const Grade& g : d.grades) {
    if (g.percent) continue;
    const std::string who = g.student.id + (g.student.name.empty() ? "" : ", " + g.student.name);
    if (state_of(g) == StudentState::nothing) {
      absent += fmt::format("<li>{}</li>\n", escaped(who));
      ++missing;
      continue;
    }
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"wide\">{}</td></tr>\n", escaped(who),
                        escaped(g.source), escaped(why_no_grade(g)));
  }
  for (const auto& e : book.unmatched(d.lab.name))
    rows += fmt::format("<tr><th scope=\"row\">nobody on the roster</th><td>{}</td><td class=\"wide\">{}</td></tr>\n",
                        escaped(fs::path(e.file).filename().string()), escaped(e.why));
  std::string out;
  if (!rows.empty())
    out = scrolled("hand-ins without a grade",
                   "<table><thead><tr><th scope=\"col\">Student</th><th scope=\"col\">Hand-in</th><th "
                   "scope=\"col\">Why</th></tr></thead><tbody>\n" +
                       rows + "</tbody></table>\n");
  if (missing > 0)
    out += fmt::format("<details><summary>{} handed nothing in</summary><ul>\n{}</ul></details>\n", missing, absent);
  return out;
}

std::string decisions_html(Gradebook& book, const std::string& lab) {
  std::string rows;
  for (const Decision& d : decisions(book, lab))
    rows +=
        fmt::format("<li>{}: {}{} {}: {} ({})</li>\n", time_html(d.made, TimeForm::minutes), escaped(d.kind),
                    d.student.empty() ? "" : " " + escaped(d.student),
                    d.kind == "extension" ? "to " + time_html(parse_date(d.value), TimeForm::full) : escaped(d.value),
                    escaped(d.reason), escaped(d.author));
  return rows.empty() ? "" : "<ul>\n" + rows + "</ul>\n";
}

std::string costs_html(const Costs& c) {
  if (c.results == 0 && !c.slurm_hours) return {};
  std::vector<std::string> lines = {fmt::format("{} gradings took {:.2f} hours on their nodes, {:.0f} s each.",
                                                c.results, c.hours, c.results > 0 ? c.hours * 3600 / c.results : 0)};
  lines.push_back(c.gpus > 0 ? fmt::format("With {} GPU{} a job: {:.2f} GPU-hours.", c.gpus, c.gpus == 1 ? "" : "s",
                                           c.hours * c.gpus)
                             : "The emulator grades this lab: no GPU-hours.");
  if (c.slurm_hours)
    lines.push_back(
        fmt::format("Slurm's accounting of all its jobs, with starts and failures: {:.2f} hours, {:.2f} GPU-hours.",
                    *c.slurm_hours, *c.slurm_gpu_hours));
  return list_of(lines);
}

std::string versions(const ClassData& d) {
  std::map<std::string, int> count;
  for (const auto& [student, result] : d.results) ++count[lab_version(result)];
  if (count.empty()) return {};
  const std::string here = lab_version_here(d.lab.name);
  std::vector<std::string> lines;
  for (const auto& [version, n] : count)
    lines.push_back(fmt::format("{}: {} result{}",
                                version.empty()   ? "not named in the record"
                                : version == here ? version.substr(0, 8) + " (the one here)"
                                                  : version.substr(0, 8),
                                n, n == 1 ? "" : "s"));
  return list_of(lines);
}

}  // namespace

std::string class_page(Gradebook& book, const std::string& lab) {
  const ClassData d = class_data(book, lab);
  const std::string title = fmt::format("{}, lab {}: {}", d.course, lab.substr(0, lab.find('_')), d.lab.title);
  std::string out = fmt::format(
      "<h1>{}</h1>\n<p class=\"soft\">{}{}, graded by {}. Times are in the time zone of the machine "
      "that made this page; hover over one for UTC.</p>\n",
      escaped(title),
      d.rules.deadline ? "Deadline " + time_html(*d.rules.deadline, TimeForm::full) + "; as of " : "As of ",
      time_html(wall_now(), TimeForm::full), d.rules.backend == lab::Backend::cuda ? "GPUs" : "the emulator");
  out += numbers(d);
  out += section("Points", distribution(d));
  out += section("Attempts over time", over_time(d));
  out += section("What fails most", failing_table(d));
  out += section("Without a grade", ungraded(book, d));
  out += section("Students", students_table(d));
  out += section("To look at", list_of(concerns(book, lab)));
  out += section("Decisions", decisions_html(book, lab));
  out += section("What grading cost", costs_html(costs_of(book, d)));
  out += section("Versions of the lab", versions(d));
  return loop::whole_page(title, out, kClassStyle, kSortScript);
}

}  // namespace ridge::cluster
