#include "learn/report/lab_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/findings/findings.hpp"
#include "learn/findings/lesson.hpp"
#include "learn/questions/predictions.hpp"
#include "learn/report/code_html.hpp"
#include "learn/report/svg.hpp"
#include "learn/report/warp_svg.hpp"

namespace ridge::loop {

namespace {

constexpr std::size_t kMostFindings = 60;

// The text of a file that a record names. The name comes from the record, so only a plain file beside it is read.
std::string text_beside(const LabRecord& r, const std::string& name) {
  std::error_code ec;
  const fs::path file = r.file.parent_path() / name;
  if (name.empty() || r.file.empty() || name.find('/') != std::string::npos || name[0] == '.' ||
      !fs::is_regular_file(fs::symlink_status(file, ec)) || fs::file_size(file, ec) > kMaxRecordBytes)
    return {};
  return file_text(file);
}

// A link to a section of a lesson: below the lessons' address, or where the page lies inside the course; else its name.
// `named` is as messages show it, relative to the current folder or not: a page has it from the course's folder on.
std::string lesson_html(const std::string& named, const LabRecord& r, const fs::path& page) {
  if (named.empty()) return {};
  const auto outside = [](const fs::path& way) { return way.empty() || *way.begin() == ".."; };
  const fs::path absolute = fs::absolute(named).lexically_normal(), way = absolute.lexically_relative(root_dir());
  const std::string lesson = outside(way) ? named : way.generic_string();
  const std::string text = "Lesson: " + escaped(lesson);
  std::string address;
  if (!r.lessons.empty())
    address = r.lessons + (r.lessons.ends_with('/') ? "" : "/") + lesson;
  else if (!outside(page.lexically_relative(root_dir())))
    address = absolute.lexically_relative(page).generic_string();
  return address.empty() ? text : fmt::format("<a href=\"{}\">{}</a>", escaped(address), text);
}

std::string goals_html(const TaskResult& t) {
  std::string out;
  for (const GoalResult& g : t.goals)
    out += fmt::format("<li><span class=\"{}\">{}</span> {} <span class=\"soft\">{}, {} / {:g} points</span></li>\n",
                       g.met ? "ok" : "fail", g.met ? "\u2713" : "\u2717", escaped(g.title.empty() ? g.id : g.title),
                       escaped(goal_text(g)), points_text(g.points), g.max);
  return out.empty() ? "" : "<ul class=\"goals\">\n" + out + "</ul>\n";
}

// The checks that are no goals: those that passed by name, those that failed with their message, the picture of a wrong
// answer, and the names of wrong cases that the message does not have.
std::string gates_html(const TaskResult& t) {
  std::string out, passed, told;
  for (const CheckResult& c : t.checks) {
    const auto is_goal = [&](const GoalResult& g) { return g.id == c.name; };
    if (std::any_of(t.goals.begin(), t.goals.end(), is_goal)) continue;
    if (c.passed) {
      passed += fmt::format("<li><span class=\"ok\">\u2713</span> {}</li>\n", escaped(c.name));
      continue;
    }
    const std::size_t line = std::min(c.message.find('\n'), c.message.size());
    told += c.message;
    out += fmt::format("<p><span class=\"fail\">\u2717 {}</span> {}</p>\n", escaped(c.name),
                       escaped(capped(c.message.substr(0, line), 600)));
    if (line < c.message.size())
      out += fmt::format("<pre class=\"wrap\">{}</pre>\n", escaped(capped(c.message.substr(line + 1), 2000)));
    if (!c.picture.empty()) out += fmt::format("<pre>{}</pre>\n", escaped(c.picture));
  }
  std::string wrong;
  for (const CaseResult& c : t.cases)
    if (!c.passed && told.find(c.name) == std::string::npos)
      wrong += fmt::format("{}<strong>{}</strong>{}", wrong.empty() ? "" : ", ", escaped(c.name),
                           c.message.empty() ? "" : ": " + escaped(capped(c.message, 300)));
  if (!wrong.empty()) out += "<p>Wrong case: " + wrong + "</p>\n";
  return (passed.empty() ? "" : "<ul class=\"goals\">\n" + passed + "</ul>\n") + out;
}

// The findings whose line is not in the code that is shown.
std::string findings_html(const std::vector<Finding>& all, const std::string& task, const std::string& code,
                          const LabRecord& r, const fs::path& page) {
  std::string out;
  for (const Finding& f : all) {
    if (f.task != task) continue;
    const std::string what = escaped(f.what.substr(0, f.what.find('\n')));
    const bool in_code = !code.empty() && code.find("</strong> " + what) != std::string::npos;
    std::string told;
    if (!in_code && !f.goal.empty())
      told = fmt::format("<strong>{}</strong> {} {}. ", escaped(f.goal), escaped(f.where), what);
    if (!in_code) told += escaped(f.why);
    told += fmt::format("{}{:.3g} point{} to gain. {}", told.empty() ? "" : " ", f.points + f.waiting,
                        f.points + f.waiting == 1 ? "" : "s", lesson_html(f.lesson, r, page));
    out += in_code ? fmt::format("<p class=\"soft\">{}: {}</p>\n", escaped(f.goal.empty() ? f.gate : f.goal), told)
                   : fmt::format("<div class=\"note\">{}</div>\n", told);
  }
  return out;
}

// What the colours of a timeline mean, of those that it has.
std::string timeline_key(const std::string& svg) {
  std::string out;
  for (const auto& [kind, words] :
       {std::pair{"kernel", "kernels"}, std::pair{"copy", "copies and memsets"},
        std::pair{"exchange", "messages between ranks"}, std::pair{"host", "calls of the host"}})
    if (svg.find(fmt::format("<rect class=\"{}\"", kind)) != std::string::npos)
      out += fmt::format("<span class=\"key {}\"></span>{}", kind, words);
  return out;
}

std::string timeline_html(const LabRecord& r, const TaskResult& t) {
  if (t.trace.empty()) return {};
  const std::string wrong = t.timeline ? t.timeline->wrong_case : "";
  if (const std::string svg = timeline_svg(text_beside(r, t.trace), t.id); !svg.empty())
    return fmt::format("<figure>{}<figcaption>Timeline in virtual time{}.{}</figcaption></figure>\n", svg,
                       wrong.empty() ? "" : ", of the wrong case " + escaped(wrong), timeline_key(svg));
  return fmt::format("<p class=\"soft\">{:.1f} us of virtual time; the trace is not beside the record.</p>\n",
                     t.timeline ? t.timeline->seconds * 1e6 : 0.0);
}

std::string task_html(const LabRecord& r, const Lab* lab, const TaskResult& t, const std::vector<Finding>& found,
                      const fs::path& page) {
  const Task* spec = nullptr;
  if (lab != nullptr)
    for (const Task& known : lab->tasks)
      if (known.id == t.id) spec = &known;
  std::string out = fmt::format(
      "<article class=\"task {}\">\n<header><h3><span class=\"points\">{} / {:g}</span>{} <span "
      "class=\"chip\">{}</span></h3>\n<p class=\"soft\">{}</p></header>\n",
      name_of(t.status), points_text(t.points), t.max, escaped(t.id), name_of(t.status), escaped(t.title));
  if (t.status == Status::skipped) return out + "<p>" + escaped(t.reason) + "</p>\n</article>\n";
  std::string code;
  if (spec != nullptr)
    if (const auto at = r.sources.find(spec->file); at != r.sources.end())
      code = code_html(spec->file, at->second, t, found);
  out += gates_html(t) + goals_html(t) + findings_html(found, t.id, code, r, page);
  if (!code.empty()) out += fmt::format("<h4>{}</h4>\n", escaped(spec->file)) + code;
  out += warp_svg(text_beside(r, t.warp_name)) + timeline_html(r, t);
  if (spec != nullptr && t.status == Status::failed && !spec->hints.empty())
    out += fmt::format("<p class=\"soft\">Hints: <code>{}</code></p>\n",
                       escaped(as_typed(fmt::format("./ridge hint {} {}", lab->name.substr(0, 2), t.id))));
  if (spec != nullptr && t.status == Status::passed)
    out += fmt::format("<p class=\"soft\">{}</p>\n", lesson_html(lesson_link(*lab, *spec), r, page));
  return out + "</article>\n";
}

std::string predictions_html(const Lab& lab) {
  std::string out;
  const std::vector<Predicted> all = predictions_of(lab);
  for (const Predicted& p : all)
    if (p.value)
      out += fmt::format("<li>{}<br><span class=\"{}\">{}</span></li>\n", escaped(p.prediction.ask),
                         !p.compared() ? "soft"
                         : p.near()    ? "ok"
                                       : "fail",
                         escaped(p.measured ? comparison(p) : p.answer + " predicted; not measured yet"));
  if (out.empty()) return {};
  return "<h4>Predictions</h4>\n<ul class=\"asked\">\n" + out + "</ul>\n<p class=\"soft\">" +
         escaped(calibration_text(calibration(all))) + "</p>\n";
}

}  // namespace

std::string points_text(double points) { return fmt::format("{:g}", std::floor(points * 10 + 1e-6) / 10); }

std::string points_bar(double points, double max) {
  return fmt::format("<div class=\"bar\"><i style=\"width:{:.0f}%\"></i></div>",
                     max > 0 ? 100 * std::clamp(points / max, 0.0, 1.0) : 0.0);
}

std::string lab_html(const LabRecord& record, const Lab* lab, const fs::path& page, const std::string& anchor) {
  const Result& r = record.result;
  const std::string device = r.device.count("name") != 0 ? r.device.at("name") : name_of(r.backend);
  std::string out = fmt::format(
      "<h2 id=\"{}\"><span class=\"points\">{} / {:g}</span>{} {}</h2>\n{}\n<p class=\"soft\">{}, {} on {}, {}, "
      "attempt {}</p>\n",
      escaped(anchor), points_text(r.points), r.max, escaped(r.lab.substr(0, r.lab.find('_'))), escaped(r.title),
      points_bar(r.points, r.max), r.standing, r.mode, escaped(device), escaped(r.time), escaped(r.attempt));
  out += attempts_html(record.stops, r.max);
  if (r.outcome == Outcome::build_failed)
    return out + "<p class=\"fail\">It did not compile.</p>\n<pre class=\"wrap\">" +
           escaped(r.build_output.substr(0, 4000)) + "</pre>\n";
  if (const std::string svg = roofline_svg(r); !svg.empty())
    out += "<figure>" + svg +
           "<figcaption>Roofline. Filled points are timed; open ones are counted: the most that their traffic "
           "allows.</figcaption></figure>\n";
  const std::vector<Finding> found =
      lab == nullptr ? std::vector<Finding>{} : findings(*lab, r, record.sources, kMostFindings);
  for (const TaskResult& t : r.tasks) out += task_html(record, lab, t, found, page);
  if (lab != nullptr && record.own) out += predictions_html(*lab);
  return out;
}

}  // namespace ridge::loop
