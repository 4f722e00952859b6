#include "learn/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "grader/base/error.hpp"
#include "grader/result/record.hpp"
#include "grader/result/timeline_trace.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/changes.hpp"
#include "learn/findings/findings.hpp"
#include "learn/questions/predictions.hpp"
#include "learn/report/svg.hpp"

namespace ridge::loop {

namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d5db; --soft: #5c6670; --good: #1a7f37; --bad: #b42318;
  --kernel: #2a78d6; --copy: #1f9d6b; --host: #8a8f98; --exchange: #c2571a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #15181c; --line: #3a414a; --soft: #a3acb6; --good: #4cc26a; --bad: #ff8a7a;
  --kernel: #6aa9ef; --copy: #55c596; --host: #9aa1ab; --exchange: #ef9a62; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; border-top: 2px solid var(--line); padding-top: 1rem; margin-top: 2rem; } h3 { font-size: 1.1rem; }
table { border-collapse: collapse; margin: .6rem 0; } th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--soft); }
.scroll { overflow-x: auto; } .soft { color: var(--soft); } .ok { color: var(--good); } .fail { color: var(--bad); }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; } svg text { fill: var(--ink); } svg .grid { stroke: var(--line); }
svg .roof { fill: none; stroke: var(--ink); stroke-width: 2; } svg circle { fill: var(--kernel); stroke: var(--paper); } svg circle.counted { fill: var(--paper); stroke: var(--kernel); stroke-width: 2; }
svg .kernel { fill: var(--kernel); } svg .copy { fill: var(--copy); } svg .host { fill: var(--host); } svg .exchange { fill: var(--exchange); }
@media print { details { display: block; } }
)css";

struct Record {
  Result result;
  fs::path file;
};

struct Person {
  std::string name;
  std::vector<Record> records;  // the newest record of each lab, in the order of labs
};

std::optional<Record> read_record(const fs::path& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > kMaxRecordBytes || is_trace(file))
    return std::nullopt;
  try {
    const nlohmann::json j = parse_json(file_text(file));
    if (!j.is_object() || j.value("schema", nlohmann::json()) != "ridge.result/1") return std::nullopt;
    return Record{read_result(j), file};
  } catch (const Error&) {
    return std::nullopt;
  }
}

Person read_person(const std::string& path) {
  Person p;
  fs::path at = fs::path(path).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  std::map<std::string, Record> newest;
  auto take = [&](const fs::path& file) {
    auto r = read_record(file);
    if (!r) return;
    auto old = newest.find(r->result.lab);
    if (old == newest.end() || old->second.result.attempt < r->result.attempt)
      newest.insert_or_assign(r->result.lab, std::move(*r));
  };
  std::error_code ec;
  if (fs::is_directory(at, ec)) {
    p.name = at.filename().string();
    std::size_t looked = 0;
    for (auto it = fs::recursive_directory_iterator(at, fs::directory_options::skip_permission_denied, ec);
         !ec && it != fs::recursive_directory_iterator() && looked < 100000; it.increment(ec), ++looked)
      if (it->path().extension() == ".json") take(it->path());
  } else if (fs::exists(at, ec)) {
    p.name = at.stem().string();
    take(at);
  } else {
    throw Error(Exit::usage, "there is no " + path, "name records, or folders that hold some");
  }
  for (auto& [lab, r] : newest) p.records.push_back(std::move(r));
  if (p.records.empty())
    throw Error(Exit::usage, fmt::format("{} holds no record", path),
                "records lie in work/.ridge/results/; see docs/result-format.md");
  return p;
}

Person own_results() {
  Person p{"Results", {}};
  for (const Lab& lab : load_labs()) {
    const LabState state = state_of(lab);
    auto r = read_record(results_dir() / lab.name / (state.last_attempt + ".json"));
    if (state.last_attempt.empty() || !r) continue;
    if (state.last_built) {  // the last attempt may have judged only one task
      r->result.tasks.clear();
      for (const TaskState& t : state.tasks)
        if (t.last) r->result.tasks.push_back(*t.last);
      r->result.points = state.points, r->result.max = state.max;
    }
    p.records.push_back(std::move(*r));
  }
  if (p.records.empty())
    throw Error(Exit::usage, "there are no results yet", "`./ridge check 01` makes one; or name records or folders");
  return p;
}

std::string task_rows(const TaskResult& t) {
  std::string out;
  const char* css = t.status == Status::passed ? "ok" : t.status == Status::skipped ? "soft" : "fail";
  std::string told;
  for (const CheckResult& c : t.checks) {
    const GoalResult* goal = nullptr;
    for (const GoalResult& g : t.goals)
      if (g.id == c.name) goal = &g;
    told += fmt::format("<div><span class=\"{}\">{}</span> {}{}</div>", c.passed ? "ok" : "fail",
                        c.passed ? "ok" : "fail", escaped(c.name),
                        goal != nullptr ? " " + escaped(goal_text(*goal))
                        : c.passed      ? ""
                                        : ": " + escaped(c.message.substr(0, 400)));
    if (!c.passed && !c.picture.empty()) told += fmt::format("<pre>{}</pre>", escaped(c.picture));
  }
  out +=
      fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td><td class=\"n\">{:g} / {:g}</td><td>{}</td></tr>\n",
                  escaped(t.title), css, name_of(t.status), t.points, t.max, told.empty() ? escaped(t.reason) : told);
  return out;
}

// The trace's name comes from a record, so only a plain file beside the record is read.
std::string timeline_of(const Record& r, const TaskResult& t) {
  if (t.trace.empty()) return {};
  std::error_code ec;
  const fs::path file = r.file.parent_path() / t.trace;
  if (t.trace.find('/') == std::string::npos && t.trace[0] != '.' &&
      fs::is_regular_file(fs::symlink_status(file, ec)) && fs::file_size(file, ec) <= kMaxRecordBytes)
    if (std::string svg = timeline_svg(file_text(file), t.id); !svg.empty()) return svg;
  return fmt::format(
      "<p class=\"soft\">Task {}: {:.1f} us of virtual time; its trace is not beside the record, so its timeline is "
      "not drawn.</p>\n",
      escaped(t.id), t.timeline ? t.timeline->seconds * 1e6 : 0.0);
}

std::string lab_section(const Record& record, const std::vector<Lab>& labs) {
  const Result& r = record.result;
  std::string device = r.device.count("name") != 0 ? r.device.at("name") : name_of(r.backend);
  std::string out = fmt::format(
      "<h3>{}: {}</h3>\n<p class=\"soft\">{:g} of {:g} points, {} ({} on {}), {}, attempt {}</p>\n", escaped(r.lab),
      escaped(r.title), r.points, r.max, r.standing, r.mode, escaped(device), escaped(r.time), escaped(r.attempt));
  if (r.outcome == Outcome::build_failed)
    return out + "<p class=\"fail\">It did not compile.</p>\n<pre class=\"scroll\">" +
           escaped(r.build_output.substr(0, 4000)) + "</pre>\n";
  out +=
      "<div class=\"scroll\"><table><caption>Tasks</caption><thead><tr><th scope=\"col\">Task</th><th "
      "scope=\"col\">Result</th><th scope=\"col\" class=\"n\">Points</th><th "
      "scope=\"col\">Checks</th></tr></thead><tbody>\n";
  for (const TaskResult& t : r.tasks) out += task_rows(t);
  out += "</tbody></table></div>\n";
  for (const Lab& lab : labs)
    if (lab.name == r.lab)
      if (const auto found = findings(lab, r); !found.empty()) {
        out += "<p>What to look at next</p>\n<ol>\n";
        for (const Finding& f : found)
          out += fmt::format(
              "<li><strong>{}</strong> ({:.3g} points to gain): {} {} <span class=\"soft\">{} Lesson: {}</span></li>\n",
              escaped(f.task + (f.goal.empty() ? "" : ", " + f.goal)), f.points, escaped(f.where), escaped(f.what),
              escaped(f.why), escaped(f.lesson));
        out += "</ol>\n";
      }
  if (const std::string svg = roofline_svg(r); !svg.empty())
    out += "<figure>" + svg +
           "<figcaption class=\"soft\">Filled points are timed; open ones are counted: the most that their traffic "
           "allows.</figcaption></figure>\n";
  for (const TaskResult& t : r.tasks) out += timeline_of(record, t);
  return out;
}

// How well this machine's user predicts, lab after lab, from the journal. Empty where nothing was compared.
std::string calibration_section(const std::vector<Lab>& labs) {
  std::string rows;
  std::vector<Predicted> together;
  auto row = [](const std::string& name, const Calibration& c) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        escaped(name), c.compared, c.near, c.median_ratio ? fmt::format("{:.2g}", *c.median_ratio) : "-");
  };
  for (const Lab& lab : labs) {
    const std::vector<Predicted> all = predictions_of(lab);
    const Calibration c = calibration(all);
    if (c.compared == 0) continue;
    rows += row(lab.name, c);
    together.insert(together.end(), all.begin(), all.end());
  }
  if (rows.empty()) return "";
  return "<section>\n<h2>Predictions</h2>\n<p class=\"soft\">A ratio of 1 is exact: predicted over measured.</p>\n"
         "<div class=\"scroll\"><table><caption>Calibration by lab</caption><thead><tr><th scope=\"col\">Lab</th>"
         "<th scope=\"col\" class=\"n\">Predictions</th><th scope=\"col\" class=\"n\">Right or within a factor of "
         "2</th>"
         "<th scope=\"col\" class=\"n\">Median ratio</th></tr></thead><tbody>\n" +
         rows + row("All", calibration(together)) + "</tbody></table></div>\n</section>\n";
}

}  // namespace

int html_report(const std::string& out_file, const std::vector<std::string>& paths) {
  std::vector<Person> people;
  if (paths.empty()) people.push_back(own_results());
  for (const std::string& path : paths) people.push_back(read_person(path));
  const std::vector<Lab> labs = load_labs();
  const bool many = people.size() > 1;
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>";
  const std::string title = many ? fmt::format("Ridge: results of {}", people.size()) : "Ridge: " + people[0].name;
  out += escaped(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<main>\n<h1>" + escaped(title) +
         "</h1>\n";
  if (many || people[0].records.size() > 1) {
    std::set<std::string> columns;
    for (const Person& p : people)
      for (const Record& r : p.records) columns.insert(r.result.lab);
    out += "<div class=\"scroll\"><table><caption>Points by lab</caption><thead><tr><th scope=\"col\">Name</th>";
    for (const std::string& lab : columns) out += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escaped(lab));
    out += "<th scope=\"col\" class=\"n\">Sum</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < people.size(); ++i) {
      double sum = 0;
      out += fmt::format("<tr><th scope=\"row\"><a href=\"#p{}\">{}</a></th>", i, escaped(people[i].name));
      for (const std::string& lab : columns) {
        std::string cell = "-";
        for (const Record& r : people[i].records)
          if (r.result.lab == lab) cell = fmt::format("{:g}", r.result.points), sum += r.result.points;
        out += fmt::format("<td class=\"n\">{}</td>", cell);
      }
      out += fmt::format("<td class=\"n\">{:g}</td></tr>\n", sum);
    }
    out += "</tbody></table></div>\n";
  }
  for (std::size_t i = 0; i < people.size(); ++i) {
    out += fmt::format("<section id=\"p{}\">\n<h2>{}</h2>\n", i, escaped(people[i].name));
    for (const Record& r : people[i].records) out += lab_section(r, labs);
    out += "</section>\n";
  }
  if (paths.empty()) out += calibration_section(labs);
  out += "</main>\n</body>\n</html>\n";
  write_durably(fs::absolute(out_file), out);
  fmt::print("{}: {} record{} of {}\n", shown(out_file),
             std::accumulate(people.begin(), people.end(), std::size_t{0},
                             [](std::size_t n, const Person& p) { return n + p.records.size(); }),
             many ? "s" : "", many ? fmt::format("{} people", people.size()) : people[0].name);
  return 0;
}

}  // namespace ridge::loop
