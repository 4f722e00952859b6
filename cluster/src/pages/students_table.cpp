#include "cluster/src/pages/students_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/lab_report.hpp"
#include "cluster/src/pages/local_time.hpp"
#include "learn/report/lab_html.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster {

using loop::escaped;

const char* const kSortScript = R"js(
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const order = head.getAttribute('aria-sort') === 'ascending' ? 'descending' : 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', order);
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const rows = [...body.rows], numbers = rows.every(row => key(row) === '' || !Number.isNaN(Number(key(row))));
      const sign = order === 'ascending' ? 1 : -1;
      rows.sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === '' || y === '') return (x === '') - (y === '');
        return sign * (numbers ? x - y : x.localeCompare(y));
      });
      body.append(...rows);
    };
  });
}
)js";

std::string scrolled(const std::string& name, const std::string& table) {
  return fmt::format("<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">{}</div>\n", escaped(name),
                     table);
}

namespace {

std::string text_cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }

// Sorted by the number, which is shown as `text`; empty where there is none.
std::string number_cell(const std::optional<double>& value, const std::string& text = "") {
  if (!value) return "<td class=\"n\" data-v=\"\"></td>";
  return fmt::format("<td class=\"n\" data-v=\"{:.6g}\">{}</td>", *value,
                     escaped(text.empty() ? loop::points_text(*value) : text));
}

std::string date_cell(const std::optional<std::int64_t>& date, TimeForm form) {
  if (!date) return "<td data-v=\"\"></td>";
  return fmt::format("<td class=\"date\" data-v=\"{}\">{}</td>", *date, time_html(*date, form));
}

// "extension 2026-12-08T22:59:00Z; 1 day late", with its date as the page's others
std::string note_cell(const std::string& note) {
  const std::string extension = "extension ";
  std::string out;
  for (const std::string& part : split(note, ';')) {
    const std::string text = trimmed(part);
    if (!out.empty()) out += "; ";
    out += text.starts_with(extension)
               ? "extension to " + time_html(parse_date(text.substr(extension.size())), TimeForm::minutes)
               : escaped(text);
  }
  return "<td class=\"remark\">" + out + "</td>";
}

}  // namespace

std::string students_table(const ClassData& d) {
  std::map<std::string, int> times;
  for (const HandIn& h : d.hand_ins) ++times[h.student];
  // Answers come in a file of `ridge submit`; of a class that hands in another way there are none to show.
  const bool asked =
      std::any_of(d.grades.begin(), d.grades.end(), [](const Grade& g) { return g.participation.has_value(); });
  const bool predictions = asked && !d.lab.predictions.empty();
  std::string head = "<th scope=\"col\">Id</th><th scope=\"col\">Name</th><th scope=\"col\" class=\"n\">Percent</th>";
  for (const Task& t : d.lab.tasks) head += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escaped(t.id));
  head +=
      "<th scope=\"col\" class=\"n\">Hand-ins</th><th scope=\"col\">Last</th><th scope=\"col\" class=\"n\">Days "
      "late</th>";
  if (predictions) head += "<th scope=\"col\" class=\"n\">Predicted</th>";
  if (asked) head += "<th scope=\"col\" class=\"n\">Quiz answered</th><th scope=\"col\" class=\"n\">Quiz right</th>";
  head += "<th scope=\"col\">Version</th><th scope=\"col\">Note</th>";
  std::set<std::string> years;
  for (const Grade& g : d.grades)
    if (g.handed_in) years.insert(local_text(*g.handed_in, TimeForm::year));
  const TimeForm form = years.size() > 1 ? TimeForm::minutes : TimeForm::this_year;
  std::string rows;
  for (const Grade& g : d.grades) {
    const auto result = d.results.find(g.student.id);
    std::string row = fmt::format("<th scope=\"row\">{}</th>", escaped(g.student.id)) + text_cell(g.student.name) +
                      number_cell(g.percent);
    for (const Task& task : d.lab.tasks) {
      std::optional<double> points;
      if (result != d.results.end())
        for (const TaskResult& t : result->second.tasks)
          if (t.id == task.id && t.status != Status::skipped) points = t.points;
      row += number_cell(points);
    }
    row += number_cell(times[g.student.id]) + date_cell(g.handed_in, form) + number_cell(g.days_late);
    const auto answered = [&](int count, int of) {
      return g.participation ? number_cell(count, fmt::format("{} of {}", count, of)) : number_cell(std::nullopt);
    };
    const loop::Participation p = g.participation.value_or(loop::Participation{});
    if (predictions) row += answered(p.predicted, p.predictions);
    if (asked) row += answered(p.answered, p.questions) + answered(p.right, p.answered);
    row += text_cell(result == d.results.end() ? "" : lab_version(result->second).substr(0, 8)) + note_cell(g.note);
    rows += "<tr>" + row + "</tr>\n";
  }
  if (rows.empty()) return {};
  std::string note;
  if (asked) {
    const auto some = std::count_if(d.grades.begin(), d.grades.end(),
                                    [](const Grade& g) { return g.participation && g.participation->any(); });
    note = fmt::format(
        "<p class=\"soft\">{} of {} students answered predictions or quiz questions, as their own hand-ins say; none "
        "of "
        "it counts for the grade.</p>\n",
        some, d.grades.size());
  }
  return note + scrolled("students", "<table class=\"sortable students\"><thead><tr>" + head +
                                         "</tr></thead><tbody>\n" + rows + "</tbody></table>\n");
}

}  // namespace ridge::cluster
