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
#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

std::string number(double v) {
  std::string text = fmt::format("{:.2f}", v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// "20.00", or "20,00" where the system writes so
double written_number(const std::string& text) { return std::atof(replaced(text, ",", ".").c_str()); }

int named_column(const Csv& csv, const std::string& name, const fs::path& file) {
  std::vector<std::string> found;
  int at = -1;
  for (std::size_t i = 0; i < csv.rows[0].size(); ++i) {
    if (csv.rows[0][i].text == name) return static_cast<int>(i);
    if (lower(csv.rows[0][i].text).find(lower(name)) == std::string::npos) continue;
    found.push_back(csv.rows[0][i].text);
    at = static_cast<int>(i);
  }
  if (found.size() == 1) return at;
  std::vector<std::string> all;
  for (const CsvField& f : csv.rows[0]) all.push_back(f.text);
  throw Error(Exit::usage,
              fmt::format("{} {} column '{}'", shown(file), found.empty() ? "has no" : "has more than one", name),
              fmt::format("name one with --column; it has: {}", fmt::join(all, " | ")));
}

// Fills one column of the instructor's file for Canvas or Moodle. Rows are matched by any identity column.
std::string filled(const std::vector<Grade>& grades, const ExportOptions& o, std::string& note) {
  const bool canvas = o.format == "canvas";
  if (o.from.empty())
    throw Error(Exit::usage,
                fmt::format("grades for {0} are filled into a file that {0} exported", canvas ? "Canvas" : "Moodle"),
                "name it with --from; it is read, and a copy with one column filled is written");
  auto text = read_regular(o.from, 64 << 20);
  if (!text) throw Error(Exit::usage, "cannot read " + shown(o.from), "check --from");
  const Csv csv = parse_csv(*text, shown(o.from));
  if (csv.rows.empty()) throw Error(Exit::usage, shown(o.from) + " is empty", "export it again");
  const int column = named_column(csv, o.column.empty() ? (canvas ? o.lab : "Grade") : o.column, o.from);
  std::vector<int> identities;
  for (const char* name : {"SIS Login ID", "SIS User ID", "ID", "ID number", "Username", "Email address", "Identifier"})
    if (int c = csv.column({name}); c >= 0 && c != column) identities.push_back(c);
  if (identities.empty())
    throw Error(Exit::usage, shown(o.from) + " has no column that identifies students",
                "export it with ids or e-mail addresses");
  double points = o.points;
  const int most = canvas ? -1 : csv.column({"Maximum Grade"}),
            open = canvas ? -1 : csv.column({"Grade can be changed"});
  std::vector<CsvChange> changes;
  int skipped = 0;
  std::map<std::string, const Grade*> by_id, by_email;
  for (const Grade& g : grades) {
    by_id[lower(g.student.id)] = &g;
    if (!g.student.email.empty()) by_email[lower(g.student.email)] = &g;
  }
  std::map<const Grade*, std::size_t> seen;
  for (std::size_t row = 1; row < csv.rows.size(); ++row) {
    std::string first = csv.at(row, 0);
    first.erase(0, first.find_first_not_of(' '));
    if (canvas && first == "Points Possible") {
      if (points == 0) points = written_number(csv.at(row, column));
      continue;
    }
    const Grade* g = nullptr;
    for (int c : identities) {
      const std::string key = lower(csv.at(row, c));
      if (key.empty()) continue;
      if (auto at = by_id.find(key); g == nullptr && at != by_id.end()) g = at->second;
      if (auto at = by_email.find(key); g == nullptr && at != by_email.end()) g = at->second;
    }
    const bool locked = lower(csv.at(row, open)) == "no";
    if (g == nullptr || !g->percent || locked || static_cast<std::size_t>(column) >= csv.rows[row].size()) {
      ++skipped;
      continue;
    }
    if (!seen.emplace(g, row).second)
      throw Error(Exit::usage,
                  fmt::format("{}: rows {} and {} are the same student, {}", shown(o.from), seen[g] + 1, row + 1,
                              g->student.id),
                  "correct the file, or the roster");
    const double own = points == 0 ? written_number(csv.at(row, most)) : points;
    changes.push_back({row, column, number(*g->percent / 100 * (own > 0 ? own : 100))});
  }
  note = fmt::format("{} rows filled in column '{}', {} left as they were", changes.size(),
                     csv.rows[0][static_cast<std::size_t>(column)].text, skipped);
  return with_changes(csv, changes);
}

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
                       g.percent ? number(raw) : "", g.percent ? number(std::max(0.0, raw - score)) : "",
                       g.percent ? number(score) : "", number(points));
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
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{}\n", csv_field(g.student.id), csv_field(g.student.name),
        g.percent ? number(*g.percent) : "", g.points ? number(*g.points) : "", g.max ? number(*g.max) : "",
        g.percent                              ? g.outcome
        : state_of(g) == StudentState::nothing ? "nothing handed in"
                                               : "not graded",
        g.handed_in ? date_text(*g.handed_in) : "", g.days_late, csv_field(g.note),
        g.participation
            ? fmt::format("{},{},{}", g.participation->predicted, g.participation->answered, g.participation->right)
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
  if (o.format == "canvas" || o.format == "moodle") text = filled(grades, o, note);
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
