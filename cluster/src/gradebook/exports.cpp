#include "cluster/src/gradebook/exports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/csv.hpp"
#include "cluster/src/base/files.hpp"
#include "cluster/src/base/strings.hpp"
#include "cluster/src/gradebook/class_counts.hpp"
#include "cluster/src/gradebook/filling.hpp"
#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

std::string nbgrader(const std::vector<Grade>& grades, const CourseLab& lab, double points) {
  if (points == 0) points = 100;
  std::string out =
      "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_"
      "score\n";
  for (const Grade& g : grades) {
    // "Doe, Jane" or "Jane Doe"
    std::string last = g.student.name, first;
    if (auto comma = last.find(", "); comma != std::string::npos) {
      first = last.substr(comma + 2), last.resize(comma);
    } else if (auto blank = last.rfind(' '); blank != std::string::npos) {
      first = last.substr(0, blank), last = last.substr(blank + 1);
    }
    const double raw = g.points && g.max && *g.max > 0 ? *g.points / *g.max * points : 0;
    const double score = g.percent ? *g.percent / 100 * points : 0;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(lab.name),
                       lab.deadline ? date_text(*lab.deadline) : "", g.handed_in ? date_text(*g.handed_in) : "",
                       csv_field(g.student.id), csv_field(last), csv_field(first), csv_field(g.student.email),
                       g.percent ? short_number(raw) : "", g.percent ? short_number(std::max(0.0, raw - score)) : "",
                       g.percent ? short_number(score) : "", short_number(points));
  }
  return out;
}

json as_json(const Grade& g, double weight) {
  json j = {
      {"student", g.student.id},    {"name", g.student.name}, {"email", g.student.email}, {"lab", g.lab},
      {"state", g.state},           {"outcome", g.outcome},   {"source", g.source},       {"days_late", g.days_late},
      {"overridden", g.overridden}, {"note", g.note},         {"problem", g.problem},     {"reason", g.reason},
      {"attempt", g.token},         {"submission", g.content}};
  j["weight"] = weight;
  j["percent"] = g.percent ? json(*g.percent) : json();
  j["points"] = g.points ? json(*g.points) : json();
  j["max"] = g.max ? json(*g.max) : json();
  j["handed_in"] = g.handed_in ? json(date_text(*g.handed_in)) : json();
  j["participation"] = json();
  if (const auto& p = g.participation)
    j["participation"] = {{"predictions", p->predictions}, {"predicted", p->predicted}, {"near", p->near},
                          {"questions", p->questions},     {"answered", p->answered},   {"right", p->right}};
  return j;
}

// A list with one results.json per student: {"student": ..., "results": {...}}.
std::string gradescope(const std::vector<Grade>& grades, double points) {
  if (points == 0) points = 100;
  json all = json::array();
  for (const Grade& g : grades) {
    if (!g.percent) continue;
    all.push_back(
        {{"student", g.student.id},
         {"email", g.student.email},
         {"results",
          {{"score", *g.percent / 100 * points},
           {"output", g.note},
           {"visibility", "after_published"},
           {"tests",
            json::array({{{"name", g.lab},
                          {"score", *g.percent / 100 * points},
                          {"max_score", points},
                          {"status", g.outcome == name_of(Outcome::passed) ? Status::passed : Status::failed}}})}}}});
  }
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string plain(const std::vector<Grade>& grades) {
  std::string out =
      "student,name,percent,points,max,outcome,handed_in,days_late,note,predicted,quiz_answered,quiz_right\n";
  for (const Grade& g : grades)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_field(g.student.id), csv_field(g.student.name),
                       g.percent ? short_number(*g.percent) : "", g.points ? short_number(*g.points) : "",
                       g.max ? short_number(*g.max) : "",
                       g.percent                              ? g.outcome
                       : state_of(g) == StudentState::nothing ? "nothing handed in"
                                                              : "not graded",
                       g.handed_in ? date_text(*g.handed_in) : "", g.days_late, csv_field(g.note),
                       g.participation ? fmt::format("{},{},{}", g.participation->predicted, g.participation->answered,
                                                     g.participation->right)
                                       : ",,");
  return out;
}

}  // namespace

void require_owners(Gradebook& book, const std::string& lab) {
  const auto nobodys = book.unmatched(lab);
  if (nobodys.empty()) return;
  std::string list;
  for (const auto& e : nobodys) list += fmt::format("\n  {}: {}: {}", e.lab, printable(e.file), e.why);
  throw Error(Exit::environment,
              fmt::format("{} entries that were handed in belong to nobody on the roster, so somebody's grade is "
                          "missing:{}",
                          nobodys.size(), list),
              "call each after its student's id and take the folder in again, or move away what is no hand-in; "
              "--ignore-unmatched exports all the same");
}

std::string exported(Gradebook& book, const ExportOptions& o, std::string& note) {
  const bool total = o.lab == "total";
  if (!o.ignore_unmatched) require_owners(book, total ? "" : o.lab);
  const std::vector<Grade> grades = total ? book.totals() : book.grades(o.lab);
  CourseLab lab;
  lab.name = o.lab;
  if (!total) lab = book.course().lab(o.lab);
  const ClassCounts counts = class_counts(grades);
  std::string text;
  if (is_filled(o.format)) text = filled(grades, o, note);
  if (o.format == "nbgrader") text = nbgrader(grades, lab, o.points);
  if (o.format == "gradescope") text = gradescope(grades, o.points);
  if (o.format == "csv") text = plain(grades);
  if (o.format == "json") {
    json all = json::array();
    for (const Grade& g : grades) all.push_back(as_json(g, lab.weight));
    text = all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  note += fmt::format("{}{}", note.empty() ? "" : "; ", total ? totals_text(counts) : counts_text(counts));
  if (counts.without_grade() > 0) note += "; who is not graded gets no grade here, and no zero";
  return text;
}

int gpus_of(const CourseLab& rules, const Lab& lab) {
  if (rules.backend != lab::Backend::cuda) return 0;
  int of_pods = 0;
  for (const auto& [resource, amount] : rules.kubernetes.resources)
    if (resource.starts_with("nvidia.com/")) of_pods += std::atoi(amount.c_str());
  if (of_pods > 0) return of_pods;
  const std::string& gres = rules.slurm.gres;
  return gres.empty() ? lab.least_gpus() : std::max(1, std::atoi(gres.substr(gres.rfind(':') + 1).c_str()));
}

std::string estimate(Gradebook& book, const std::string& lab_name, int more, int nodes) {
  const CourseLab rules = book.course().lab(lab_name);
  const Lab lab = find_lab(lab_name);
  Rows r = book.db().query(
      "SELECT count(*), avg(r.seconds), max(r.seconds) FROM result r JOIN work w ON w.id = r.work WHERE w.lab = ?",
      lab_name);
  r.next();
  const auto known = r.integer(0);
  Rows open = book.db().query("SELECT count(*) FROM work WHERE lab = ? AND state IN ('waiting', 'running')", lab_name);
  open.next();
  const double n = static_cast<double>(open.integer(0) + more);
  const int gpus = gpus_of(rules, lab);
  const double each = known > 0 ? r.number(1) : rules.limit_s;
  std::string out =
      fmt::format("{}: {:.0f} submissions, {:.1f} s each ({}): {:.2f} hours of jobs", lab_name, n, each,
                  known > 0 ? fmt::format("the mean of {} so far, the longest took {:.0f} s", known, r.number(2))
                            : "the limit: there is no result yet, so this is the most",
                  n * each / 3600);
  if (gpus > 0)
    out += fmt::format(", {:.2f} GPU-hours on {} {} each", n * each * gpus / 3600, gpus, gpus == 1 ? "GPU" : "GPUs");
  if (nodes > 0)
    out += fmt::format("; about {:.2f} hours on {} {}, one at a time on each", std::ceil(n / nodes) * each / 3600,
                       nodes, nodes == 1 ? "node" : "nodes");
  return out +
         fmt::format("; at worst {:.2f}\n", n * rules.limit_s * std::max(1, gpus) * (1 + book.course().retries) / 3600);
}

}  // namespace ridge::cluster
